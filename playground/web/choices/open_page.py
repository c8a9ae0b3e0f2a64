"""The address bar ⇄ the session: a link's choices are read, made to go together, and written back as widgets move.

A choice comes from its widget once there is one, and from the link before. What has to change is written back to
whichever it came from, so that widgets, link and charts agree. The focus, the pinned settings and the lesson come from
the session instead of widgets.

Streamlit writes every bound widget into the address. Three things it misses: the focus, the pinned settings and the
lesson, which are bound to none; while a slider is moved fast, an older run's correction can reach the browser after a
newer value; and a widget whose bounds changed leaves the address although its value stays. So every run ends by
telling the browser what the link's parameters are by now.

A run of a fragment alone does so too. It may follow a run of the page that began before the visitor's last choice:
what that one told the browser is out of date by then.
"""

from collections.abc import Collection, Mapping
from typing import Any
from urllib.parse import urlencode

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from playground.link import params, query
from playground.link.opening import split_link
from playground.link.params import (
    DEFAULT_TEXT,
    RECIPE,
    SHARED,
    TRAINING,
    UNBOUND,
    page_parameters,
    write_all,
    write_changed,
)
from playground.link.query import LinkReading, read_link
from playground.training.recipe import Recipe
from playground.training.tasks import TASKS
from playground.training.trained_network import key_in
from playground.web.choices.history import record
from playground.web.choices.setup import (
    OPEN_PAGE,
    Setup,
    current_setup,
    current_value,
    drop_outdated_notices,
    note_focus_text,
    pin,
    recognised_weights,
    replace_notices,
    settle_pinned,
    setup_of,
    trained_network,
    unpin,
    write_pinned,
)
from playground.web.choices.shortcuts import choose_values
from playground.web.components.without_picture import write_address
from playground.web.session import caches, own_models

SHOWN_VALUES = "_shown"
"""Session key of the shared values that the page showed last."""


def open_page(page: str) -> None:
    """Make the choices for the page with this path go together, before any widget exists."""
    arrived = st.session_state.get(OPEN_PAGE) != page
    restore_page_values(page, arrived=arrived)
    st.session_state[OPEN_PAGE] = page
    address = {key: st.query_params.get_all(key) for key in st.query_params}
    texts = query.normalise(address)
    # Panels count too: one that the visitor has closed stays closed, though the link asks for something in it.
    linked = [key for key in (*texts, "encdec_source", *params.FOLDS.values()) if key in params.PARAMS]
    reading = read_link(texts, [key for key in linked if key in st.session_state])
    if texts != address:
        reading = reading._replace(is_exact=False)
    st.session_state.update({key: reading.values[key] for key in params.UNBOUND if key in reading.values})
    given = {key: st.session_state[key] for key in SHARED if key in st.session_state}
    given |= {key: value for key, value in reading.values.items() if key in SHARED}
    defaults = params.default_values(given)
    values = _bring_networks({key: defaults[key] for key in SHARED} | given)
    st.session_state["run"] = values["run"]
    unknown = query.name_unknown(texts) if SHOWN_VALUES not in st.session_state else []
    if SHOWN_VALUES not in st.session_state and (page != "training" or values["weights"] == "trained here"):
        st.session_state[_FROM_LINK] = {key: address[key] for key in address if key in TRAINING}
    settled, reasons = settle_choices(values, reading.values)
    drop_outdated_notices(setup_of(settled), page, arrived=arrived)
    sentences = [*reading.sentences, *reasons, *unknown, *settle_pinned(texts, settled, settle_pinned_choices)]
    if reading.values.keys() & {"query", "key"}:
        note_focus_text(settled["text"])
    if sentences:
        replace_notices(setup_of(settled), sentences)
    if page == "encoder-decoder" and settled["weights"] == "trained here":
        reading = prefer_trained_decoder(reading)
    write_back(reading, values, settled)
    seed_widgets(page)


def follow_link(link: str) -> str:
    """Set every choice to what a link says, as a session that begins with it; returns its page's path. For callbacks.

    Raises:
        InputError: the text is no link of the playground.
    """
    page, texts = split_link(link)
    texts = query.normalise(texts)
    reading = read_link(texts)
    values = params.default_values(reading.values) | dict(reading.values)
    st.session_state.pop(SHOWN_VALUES, None)
    settled, reasons = settle_choices({key: values[key] for key in SHARED}, reading.values)
    pinned, from_link, wrong = query.read_pinned(texts, settled)
    unpin()
    if pinned is not None:
        pinned, unfit = settle_pinned_choices(pinned, from_link)
        pin(pinned)
        wrong += [query.of_pinned(reason) for reason in unfit]
    known = {key for key in params.PARAMS if key in st.session_state}
    choose_values({key: values[key] for key in {*known, *reading.values}} | settled)
    is_chosen = bool(reading.values.keys() & {"query", "key"})
    note_focus_text(settled["text"] if is_chosen else DEFAULT_TEXT, by_page=not is_chosen)
    setup = setup_of(settled)
    replace_notices(setup, [*reading.sentences, *reasons, *query.name_unknown(texts), *wrong], page)
    return page


def restore_page_values(page: str, *, arrived: bool) -> None:
    """Put a page's own values back into the link after a step back in the browser's history, and start again.

    Such a step trusts the link alone, and Streamlit took the page's values out of it on leaving. The session still has
    them. `arrived` says whether the visitor was on another page before.
    """
    context = get_script_run_ctx()
    went_back = context is not None and context.is_history_navigation
    if not arrived or not went_back:
        return
    own = {key: st.session_state[key] for key in params.page_parameters(page) if key in st.session_state}
    changed = params.write_changed(own)
    if changed.keys() - st.query_params.keys():
        st.query_params.update(changed)
        st.rerun()


def prefer_trained_decoder(reading: LinkReading) -> LinkReading:
    """The reading, with the visitor's own text where this session trained a decoder and no one chose the example."""
    trained = own_models.shown_network()
    is_chosen = "encdec_source" in st.session_state or "encdec_source" in reading.values
    if is_chosen or trained is None or not trained.task.has_decoder:
        return reading
    return reading._replace(values={**reading.values, "encdec_source": "your text"}, is_exact=False)


def settle_choices(values: Mapping[str, Any], from_link: Collection[str]) -> tuple[dict[str, Any], list[str]]:
    """What `query.settle` gives with what this session and this server have."""
    shown_before = st.session_state.get(SHOWN_VALUES)
    settled, reasons = _settle(values, from_link, shown_before)
    if shown_before is None:
        reasons += _missing_from_link(settled)
    st.session_state[SHOWN_VALUES] = settled
    return settled, reasons


def settle_pinned_choices(values: Mapping[str, Any], from_link: Collection[str]) -> tuple[dict[str, Any], list[str]]:
    """As `settle_choices`, for the pinned settings, whose weights are this session's too; after the present ones."""
    if values["weights"] == "trained here":
        values = _bring_networks(values)
    settled, reasons = _settle(values, from_link, None)
    return settled, reasons + (_missing_from_link(settled) if "weights" in from_link else [])


def _bring_networks(values: Mapping[str, Any]) -> dict[str, Any]:
    """Show what was trained since, and what a link names if this server has kept it; return values that name a run.

    The page Training names the newest one, but for a network that the sidebar shows.
    """
    slot = own_models.session_models()
    slot.fetch(values["run"])
    slot.update_shown()
    is_shown = values["weights"] == "trained here"
    follows = not values["run"] if is_shown else is_training_page()
    if slot.newest is None or not follows or key_in(values["run"]) == slot.newest.key:
        return dict(values)
    return {**values, "run": slot.newest.name}


def _settle(
    values: Mapping[str, Any], from_link: Collection[str], shown_before: Mapping[str, Any] | None
) -> tuple[dict[str, Any], list[str]]:
    return query.settle(
        values,
        from_link,
        shown_before=shown_before,
        has_checkpoint=caches.checkpoint_available(),
        recognised=recognised_weights(values),
    )


def _missing_from_link(settled: Mapping[str, Any]) -> list[str]:
    """A sentence on the weights that a link names and can't carry: what is shown instead, and where they come from."""
    if recognised_weights(settled) is not None:
        return []
    if is_training_page() and settled["run"] and own_models.shown_run(settled["run"]) is None:
        return ["This server has not kept what the link's network has learnt. **Start** trains it again."]
    if settled["weights"] == "mine":
        return [
            "A link can't carry a weights file, so these are random weights of its architecture; "
            "open the file in the sidebar to see yours."
        ]
    if settled["weights"] != "trained here":
        return []
    return [
        "This server has not kept what the link's network has learnt, so these are random weights of its shape. "
        "**Start** on the Training page trains it again."
    ]


def write_back(reading: LinkReading, values: Mapping[str, Any], settled: Mapping[str, Any]) -> None:
    """Write what was changed from `values` to widgets; where there is none yet, to the link, and start again.

    Only the link can seed a widget that is not there yet.
    """
    changed = [key for key in settled if settled[key] != values[key]]
    for key in changed:
        can_be_linked = query.read(key, params.write_all(settled[key]))[0] == settled[key]
        if key in st.session_state or not can_be_linked:  # such as a size between its slider's stops
            st.session_state[key] = settled[key]
    if reading.is_exact and all(key in st.session_state for key in changed):
        return
    known = {*params.PARAMS, *query.RENAMED, "v"}
    address = {key.removeprefix("amp;"): st.query_params.get_all(key) for key in st.query_params}
    others = {key: address[key] for key in address if key not in known and not key.startswith("embed")}
    st.query_params.from_dict({**others, **params.write_changed({**reading.values, **settled})})
    st.rerun()


def seed_widgets(page: str) -> None:
    """Start a widget that was not drawn before, or as another kind, at the session's value.

    Streamlit would start it at the address's, though a callback may have chosen another value since. Only a step back
    in the browser's history trusts the address.
    """
    context = get_script_run_ctx()
    if context is None or context.is_history_navigation:
        return
    values = {key: st.session_state[key] for key in (*SHARED, *page_parameters(page)) if key in st.session_state}
    texts = {key: st.query_params.get_all(key) for key in st.query_params}
    texts |= {key: write_all(value) for key, value in values.items()}
    with context.session_state.query_params() as bound:
        bound.set_initial_query_params(urlencode(texts, doseq=True))


def correct_address(guard: str = "address") -> None:
    """Put the present values of the open page's parameters into the address, and note them for `Undo`.

    Called at the end of a run; `guard` names the place where that is.
    """
    record()
    write_address(guard, _present_texts())


def current_parameters() -> dict[str, list[str]]:
    """The link's parameters for the open page, as texts; those at their defaults are left out."""
    return {key: texts for key, texts in _present_texts().items() if texts}


def _present_texts() -> dict[str, list[str]]:
    """The texts of all parameters of the open page; an empty list takes one out of the address."""
    keys = [*SHARED, *UNBOUND, *page_parameters(st.session_state[OPEN_PAGE])]
    values = {key: st.session_state[key] for key in keys if key in st.session_state}
    texts: dict[str, list[str]] = {key: [] for key in values} | write_changed(values)
    if current_value("weights") != "trained here" and not is_training_page():
        texts["run"] = []
    if values.get("text", DEFAULT_TEXT) != DEFAULT_TEXT:
        # The defaults are those of the default text: in another one, a link without them opens at a chosen pair.
        texts |= {key: write_all(values[key]) for key in ("query", "key") if key in values}
    if not values.get("tour") and st.session_state[OPEN_PAGE] != "lessons":
        texts["lesson"] = []  # nobody is in it
    return texts | write_pinned(current_setup().state.asked)


def shows_example() -> bool:
    """Whether the open page is the Decoder's with its trained example, in which the shared choices change nothing."""
    if st.session_state[OPEN_PAGE] != "encoder-decoder":
        return False
    return bool(current_value("encdec_source") == "trained example")


def is_fragment_rerun() -> bool:
    """Whether this run draws fragments alone, and not the page around them."""
    context = get_script_run_ctx()
    return context is not None and bool(context.fragment_ids_this_run)


_FROM_LINK = "_linked_run"
"""Session key of the Training page's parameters that the session's first link came with."""


def training_parameters(recipe: Recipe) -> dict[str, list[str]]:
    """The Training page's parameters that make this run again, as texts; those at their defaults are left out."""
    values = {name: vars(recipe)[name] for name in RECIPE} | {"task": TASKS[recipe.task].title}
    return write_changed({f"training_{name}": value for name, value in values.items()})


def parameters_to_copy(setup: Setup) -> dict[str, list[str]]:
    """What the copied link holds beside the page's own parameters, so that a classmate can train the same."""
    if setup["weights"] != "trained here" or is_training_page():
        return {}
    trained = trained_network(setup)
    return training_parameters(trained.recipe) if trained else parameters_from_link()


def is_training_page() -> bool:
    """Whether the page that is drawn has these settings as its own."""
    return bool(st.session_state.get(OPEN_PAGE) == "training")


def training_button_label() -> str:
    """What the sidebar calls its button to the Training page, where nothing was trained yet."""
    return "Train it as in the link" if parameters_from_link() else "Train a network"


def parameters_from_link() -> dict[str, list[str]]:
    """The Training page's parameters that the link came with, for as long as the session lasts."""
    saved: dict[str, list[str]] = st.session_state.get(_FROM_LINK, {})
    return saved
