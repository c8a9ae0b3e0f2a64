"""The visitor's choices as one `Lab`, which every run is made by; the pinned ones, notices.

The pinned settings lie in the session as one plain value, bound to no widget. As with the focus, `open_page` reads
them from the link once, and `correct_address` writes them there: `b_` and the parameter's key, where they differ from
the present ones. `pinned=true` stands for them where they don't differ at all.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextvars import ContextVar
from typing import Any, NamedTuple

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from playground.language.family import nearest_shipped
from playground.link import english, params, query
from playground.link.lab import Lab
from playground.link.params import SHARED
from playground.link.query import (
    MARKER,
    PINNED_KEYS,
    of_pinned,
    pinned_texts,
    read_pinned,
)
from playground.link.state import AFTER, BEFORE, MINILM, RANDOM, State, WeightsId
from playground.training.trained_network import TrainedNetwork
from playground.web.session import caches, own_models
from playground.web.session.own_models import UploadedWeights
from playground.web.session.result_cache import this_session
from playground.weights.recognise import RecognisedWeights

Setup = Lab
"""The visitor's choices."""

_PINNED = "_pinned"
"""Session key of the pinned values; None where nothing is pinned, nothing at all before the link was read."""

Settle = Callable[[Mapping[str, Any], Collection[str]], tuple[dict[str, Any], list[str]]]
"""Makes values go together: (values, keys that a link has set) → values, a sentence for each change that needs one."""


def pinned_values() -> Mapping[str, Any] | None:
    """The pinned settings, by the sidebar's keys; None where nothing is pinned."""
    values: Mapping[str, Any] | None = st.session_state.get(_PINNED)
    return values


def pin(values: Mapping[str, Any]) -> None:
    """Pin settings instead of those that are pinned, if any; `values` are of all the sidebar's keys."""
    st.session_state[_PINNED] = {key: values[key] for key in SHARED}


def unpin() -> None:
    """Pin nothing."""
    st.session_state[_PINNED] = None


def settle_pinned(texts: Mapping[str, list[str]], now: Mapping[str, Any], settle: Settle) -> list[str]:
    """Make the pinned settings go together, which a session takes from its first link's texts.

    Returns:
        A sentence for each thing that is wrong with the link, and for each change that needs one.
    """
    from_link: set[str] = set()
    sentences: list[str] = []
    if _PINNED not in st.session_state:
        st.session_state[_PINNED], from_link, sentences = read_pinned(texts, now)
    values = pinned_values()
    if values is None:
        return sentences
    settled, reasons = settle(values, from_link)
    pin(settled)
    return sentences + [of_pinned(reason) for reason in reasons]


def write_pinned(now: Mapping[str, Any]) -> dict[str, list[str]]:
    """The link's texts for what is pinned, beside the present values; an empty list takes a parameter out."""
    nothing: dict[str, list[str]] = {name: [] for name in (MARKER, *PINNED_KEYS)}
    values = pinned_values()
    if values is None:
        return nothing
    return nothing | pinned_texts(values, now)


OPEN_PAGE = "_open"
"""Session key of the page that was drawn last, by its path."""

_SETUP = "_setup"
"""Session key of the `Lab` that was built last."""

_PINNED_SETUP = "_pinned_setup"
"""Session key of the `Lab` of what is pinned."""

_FOCUS_TEXT = "_focus_text"
"""Session key of the text in which query and key were chosen; the defaults are those of the default text."""

_BY_PAGE = "_focus_by_page"
"""Session key of whether query and key are the page's choice rather than the visitor's or a link's."""

_NOTICES = "_notices"
"""Session key of (the `Lab` that the notices are about, the page they were made for, the notices)."""


def current_setup() -> Lab:
    """The visitor's choices, as the sidebar has or is about to have them.

    The same object for as long as no choice changes, in the script, its fragments and callbacks: texts are split and
    vocabularies are built once. Its values are read once in a run of the script or of fragments. Callbacks come before
    that and change them, so they read anew. So does whoever has changed `do`, the one choice without a widget, which
    can change while a page is drawn.
    """
    run, kept = _run_in_progress(), _READ.get()
    if kept is not None and run is kept.run and kept.setup["do"] == st.session_state.get("do", kept.setup["do"]):
        return kept.setup
    setup = _built_once(_SETUP, setup_of({key: current_value(key) for key in params.SHARED}))
    _READ.set(None if run is None else _Reading(run, setup))
    return setup


class _Reading(NamedTuple):
    """The setup as a run has read it."""

    run: object
    setup: Lab


_READ: ContextVar[_Reading | None] = ContextVar("setup_read_in_this_run", default=None)


def _run_in_progress() -> object | None:
    """What is the same object throughout one run of the script or of a fragment; None in callbacks, and outside."""
    context = get_script_run_ctx(suppress_warning=True)
    return context.cursors if context is not None and context.has_script_started else None


def pinned_setup() -> Lab | None:
    """The pinned settings, one object for as long as none of them changes; None where nothing is pinned."""
    values = pinned_values()
    return None if values is None else _built_once(_PINNED_SETUP, setup_of(values))


def _built_once(key: str, setup: Lab) -> Lab:
    """The session's setup of this key where it equals this one, which takes its place else."""
    built: Lab | None = st.session_state.get(key)
    if built == setup:
        return built
    st.session_state[key] = setup
    return setup


def last_setup() -> Lab | None:
    """What `current_setup` returned last: before the choices of a new run are read, what the page shows."""
    setup: Lab | None = st.session_state.get(_SETUP)
    return setup


def setup_of(values: Mapping[str, Any]) -> Lab:
    """A lab of these values, with the weights that this session has for them."""
    if values["weights"] != "trained here":
        values = {**values, "run": ""}  # which the page Training alone looks at then
    return Lab(_state_of(values), caches.APP)


def _state_of(values: Mapping[str, Any]) -> State:
    own = own_weights(values)
    if own is None:
        weights = MINILM if values["weights"] == "minilm" else RANDOM
        return _english_state(values) if values["weights"] == "english" else State(values, weights)
    n_rows = own.recognised.settings["vocab_size"]
    if isinstance(own, UploadedWeights):
        return State(values, WeightsId(own.sha256, this_session()), own.tokenizer_key, n_rows)
    key = own.initial_key if values["untrained"] and own.has_initial else own.key
    return State(values, WeightsId(key, this_session()), own.key, n_rows)


def _english_state(values: Mapping[str, Any]) -> State:
    """A state of the small English; where nobody has trained what was chosen, of the nearest one that is shipped."""
    spec = english.spec_of(values)
    if values["untrained"]:
        return State(values, WeightsId(BEFORE + spec.key))
    if caches.APP.find_english(spec) is not None:
        return State(values, WeightsId(AFTER + spec.key))
    nearest = nearest_shipped(spec.config, causal=spec.causal)
    return State({**values, **english.values_of(nearest)}, WeightsId(AFTER + nearest.key), chosen=values)


def trained_network(lab: Lab) -> TrainedNetwork | None:
    """The network trained in this session, if its weights, trained or initial, are the chosen ones."""
    return own_models.shown_network(lab["run"]) if lab["weights"] == "trained here" else None


def current_value(key: str) -> Any:
    """One choice: from its widget once there is one, and from the link before."""
    try:
        return st.session_state[key]
    except KeyError:
        texts = st.query_params.get_all(key)
    return query.read(key, texts)[0] if texts else default_value(key)


def default_value(key: str) -> Any:
    """The default of one choice beside the others: the small English has its own."""
    if key not in SHARED or key == "weights" or current_value("weights") != "english":
        return params.PARAMS[key].default
    deciding = (*english.DECIDING, "text")
    asked = {each: current_value(each) for each in deciding if each != key and _is_set(each)}
    return params.default_values({"weights": "english", **asked})[key]


def _is_set(key: str) -> bool:
    return key in st.session_state or key in st.query_params


def note_focus_text(text: str | None = None, *, by_page: bool = False) -> None:
    """Note that query or key were chosen in this text, or in the present one; by the visitor, a link, or the page."""
    st.session_state[_FOCUS_TEXT] = current_value("text") if text is None else text
    st.session_state[_BY_PAGE] = by_page


def is_focus_chosen() -> bool:
    """Whether the visitor or a link has chosen query and key: the page's own choice, and the defaults, are nobody's."""
    return not st.session_state.get(_BY_PAGE, True)


def focus_text() -> str:
    """The text in which query and key were chosen, by hand or by a link."""
    return str(st.session_state.get(_FOCUS_TEXT, params.DEFAULT_TEXT))


def is_focus_of_text() -> bool:
    """Whether query and key were chosen in the present text, rather than in one before it."""
    return bool(focus_text() == current_value("text"))


def own_weights(values: Mapping[str, Any]) -> UploadedWeights | TrainedNetwork | None:
    """The session's upload (`mine`) or trained network (`trained here`), where that is chosen and there is one."""
    if values["weights"] == "mine":
        return own_models.session_models().upload
    return own_models.shown_network(values["run"]) if values["weights"] == "trained here" else None


def recognised_weights(values: Mapping[str, Any]) -> RecognisedWeights | None:
    """What the session's upload or trained network decides, if it is chosen and there is one."""
    own = own_weights(values)
    return own.recognised if own else None


def replace_notices(setup: Lab, sentences: Sequence[str], page: str | None = None) -> None:
    """Say what had to be changed in the visitor's choices while the setup equals this one.

    On the page with this path, or on the open one.
    """
    st.session_state[_NOTICES] = (setup, page or st.session_state[OPEN_PAGE], list(sentences))


def current_notices(setup: Lab) -> list[str]:
    """The notices about this setup on the open page."""
    about, page, sentences = st.session_state.get(_NOTICES, (None, None, []))
    return list(sentences) if about == setup and page == st.session_state[OPEN_PAGE] else []


def drop_outdated_notices(setup: Lab, page: str, *, arrived: bool) -> None:
    """Forget notices that were made for the page with this path and are about another setup than its present one.

    Where the visitor has `arrived` on the page just now, those of other pages are forgotten too: until then they may be
    for a page that a press has asked for, and a run of the page before comes in between.
    """
    about, about_page, _ = st.session_state.get(_NOTICES, (setup, page, []))
    is_outdated = about != setup if about_page == page else arrived
    if is_outdated:
        st.session_state.pop(_NOTICES, None)
