"""The changes of the computation: the line of chips below a page's heading."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from playground.errors import PlaygroundError
from playground.link.lab import FittedChanges, Lab
from playground.model.change_texts import write_change
from playground.model.changes import Change
from playground.views.change_names import group_layers, name_changes, name_tokens
from playground.web.choices import shortcuts as changes
from playground.web.choices.setup import current_setup
from playground.web.choices.shortcuts import choose_places
from playground.web.components.drawings import CHANGES_KEY, Chip, draw_chips
from playground.web.shared.navigation import current_page, page_named
from playground.web.shared.page_end import as_one_element
from playground.words import say


@as_one_element
def draw_change_chips() -> None:
    """Draw a chip for each change, pressed while it is on."""
    setup, page = current_setup(), current_page()
    if not setup.changes:
        return
    tokens, fitted, waits = _read_text(setup)
    groups = _group(setup)
    with st.container(key=f"{CHANGES_KEY}_line", horizontal=True, vertical_alignment="center", gap="small"):
        chips = []
        for group, is_on in groups:
            name = name_changes(group, tokens)
            reason = name_tokens(next((fitted.reasons[each] for each in group if each in fitted.reasons), ""), tokens)
            note = waits if is_on else ""
            chips.append(Chip(_write_group(group), name, is_on, reason, note))
        draw_chips(chips, _switch, _take_back)
        if len(groups) > 1:
            st.button("Take all back", key="changes_back", type="tertiary", on_click=changes.take_back_all)
        if page.path != "what-if" and not st.context.is_embedded:
            _draw_followed_button()
    if fitted.applied and not page.shows_changes:
        st.caption(say("frame", "no-changes"))


def _draw_followed_button() -> None:
    """Draw a button that opens the page What if at what followed."""
    label, help_text, icon = say("frame", "followed"), say("frame", "followed.help"), ":material/arrow_forward:"
    asked: dict[str, Any] = {"on_click": choose_places, "kwargs": {"whatif_view": "what followed"}, "help": help_text}
    if st.button(label, key="changes_followed", type="tertiary", icon=icon, **asked):
        st.switch_page(page_named("what-if"), query_params={})


def _read_text(setup: Lab) -> tuple[Sequence[str], FittedChanges, str]:
    """The tokens, the changes that the run can have, and without a run, what they wait for."""
    try:
        if setup.text.sentences:
            return setup.batch.tokens[setup.sentence], setup.fitted_changes, ""
    except PlaygroundError:  # the page says it where it asks for the run
        pass
    return (), FittedChanges(), say("frame", "changes-wait")


def _group(setup: Lab) -> list[tuple[tuple[Change, ...], bool]]:
    """The changes as they were made, one in every layer as one, and whether each is on."""
    made, n_layers = dict(setup.changes), setup.config.n_layers
    groups = [
        (group, is_on)
        for is_on in (True, False)
        for group in group_layers([each for each in made if made[each] == is_on], n_layers)
    ]
    return sorted(groups, key=lambda found: list(made).index(found[0][0]))


def _switch() -> None:
    pressed = _find_group(st.session_state[CHANGES_KEY].switched)
    changes.switch_changes([each for each, is_on in current_setup().changes if is_on != (each in pressed)])


def _take_back() -> None:
    changes.take_back(_find_group(st.session_state[CHANGES_KEY].taken))


def _find_group(text: object) -> tuple[Change, ...]:
    return next((group for group, _ in _group(current_setup()) if _write_group(group) == text), ())


def _write_group(group: Sequence[Change]) -> str:
    return ",".join(map(write_change, group))
