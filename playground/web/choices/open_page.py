"""What happens to the visitor's choices before a page is drawn: they are read, made to go together, and written back.

A choice comes from its widget once there is one, and from the link before. What has to change is written back to
whichever it came from, so that widgets, link and charts agree.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from playground.web.choices import link, params
from playground.web.choices.notices import replace_notices
from playground.web.choices.page_values import restore_page_values
from playground.web.choices.setup import recognised_weights, setup_of
from playground.web.session import caches, trained_slot

SHOWN_VALUES = "_shown"
"""Session key of the shared values that the page showed last."""

_NOT_IN_A_LINK = {
    "mine": "A link can't carry a weights file, so these are random weights of its architecture; "
    "open the file in the sidebar to see yours.",
    "trained here": "A link can't carry what was trained, so these are random weights of the same architecture; "
    "the Training page trains it anew.",
}


@dataclass(frozen=True)
class LinkReading:
    """What a link says of the parameters that have no widget yet.

    Attributes:
        values: by parameter.
        sentences: what is wrong with the link.
        is_exact: whether the link says just these values, as this version writes them.
    """

    values: Mapping[str, Any]
    sentences: list[str]
    is_exact: bool


def open_page(page: str) -> None:
    """Make the visitor's choices go together, before any widget exists.

    Args:
        page: the path of the page that is about to be drawn.
    """
    restore_page_values(page)
    texts = {key: st.query_params.get_all(key) for key in st.query_params}
    reading = read_link(texts, [key for key in params.PARAMS if key in st.session_state])
    values = {key: st.session_state.get(key, param.default) for key, param in params.SHARED.items()}
    values.update({key: value for key, value in reading.values.items() if key in values})
    settled, reasons = settle_choices(values, reading.values)
    if reading.sentences or reasons:
        replace_notices(setup_of(settled), [*reading.sentences, *reasons])
    write_back(reading, values, settled)


def read_link(texts: Mapping[str, list[str]], with_widgets: Collection[str]) -> LinkReading:
    """Read the link's parameters, without those that have a widget, which the visitor may have moved since."""
    asked = {key: texts[key] for key in texts if key in params.PARAMS and key not in with_widgets}
    readings = {key: link.read(key, asked[key]) for key in asked}
    values = {key: value for key, (value, _) in readings.items()}
    sentences = [complaint for _, complaint in readings.values() if complaint]
    outdated = texts.get("v", [link.VERSION])[-1] != link.VERSION
    if outdated:
        sentences.append("This link was made by another version of the playground; some of it may look different.")
    is_exact = not outdated and all(params.write_all(values[key]) == asked[key] for key in asked)
    return LinkReading(values, sentences, is_exact)


def settle_choices(values: Mapping[str, Any], from_link: Collection[str]) -> tuple[dict[str, Any], list[str]]:
    """Make the shared values go together with each other and with what this session has.

    Args:
        values: of every shared parameter.
        from_link: the keys that the link has just set.

    Returns:
        The values, changed as little as possible, and a sentence for each change that needs one.
    """
    if trained_slot.update_shown():
        caches.clear_private()
    shown_before = st.session_state.get(SHOWN_VALUES)
    recognised = recognised_weights(values["weights"])
    has_checkpoint = caches.checkpoint_available()
    settled, reasons = link.settle(
        values, from_link, shown_before=shown_before, has_checkpoint=has_checkpoint, recognised=recognised
    )
    if shown_before is None and recognised is None and values["weights"] in _NOT_IN_A_LINK:
        reasons.append(_NOT_IN_A_LINK[values["weights"]])
    st.session_state[SHOWN_VALUES] = settled
    return settled, reasons


def write_back(reading: LinkReading, values: Mapping[str, Any], settled: Mapping[str, Any]) -> None:
    """Write what was changed to widgets; where there is none yet, to the link, and start again.

    Args:
        reading: of the link.
        values: the shared values before they were settled.
        settled: the same afterwards.
    """
    changed = [key for key in settled if settled[key] != values[key]]
    for key in changed:
        can_be_linked = link.read(key, params.write_all(settled[key]))[0] == settled[key]
        if key in st.session_state or not can_be_linked:  # such as a size between its slider's stops
            st.session_state[key] = settled[key]
    if not reading.is_exact or any(key not in st.session_state for key in changed):
        _rewrite_link({**reading.values, **settled})


def _rewrite_link(values: Mapping[str, Any]) -> None:
    """Put corrected values into the link and start again: only the link can seed a widget that is not there yet."""
    others = {key: st.query_params.get_all(key) for key in st.query_params if key not in params.PARAMS and key != "v"}
    ours = {key: params.write_all(value) for key, value in values.items() if value != params.PARAMS[key].default}
    st.query_params.from_dict({**others, **ours})
    st.rerun()
