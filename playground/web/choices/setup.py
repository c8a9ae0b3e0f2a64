"""What the visitor has chosen: moments, of which the last is the truth, and the `Lab` that computes it.

A parameter lies in the session under its own key, in its widget or as a plain value; or in the last moment alone.
"""

import secrets
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field, replace
from math import inf
from time import monotonic
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from playground.errors import PlaygroundError
from playground.language.family import nearest_shipped
from playground.link import opening, params
from playground.link.lab import Lab
from playground.link.opening import Focus, choose_pair
from playground.link.params import ARCHITECTURE, AROUND, AUTOMATIC, DEFAULT_TEXT, FOCUS, PARAMS, SHARED
from playground.link.query import Texts
from playground.link.state import AFTER, BEFORE, MINILM, RANDOM, State, WeightsId
from playground.runs.encoder_run import Run
from playground.training.trained_network import TrainedNetwork
from playground.web.session import caches, own_models
from playground.web.session.own_models import UploadedWeights
from playground.web.session.services import this_session
from playground.weights.recognise import RecognisedWeights

CHOICES = "_choices"
"""Session key of the `SessionChoices`."""

LONGEST = 50

LATE = 5.0
"""Seconds for which a browser may still send what was replaced; after them, somebody wants it back."""

_UNDONE = PARAMS.keys() - AROUND.keys()
_SEVERAL = [key for key, param in PARAMS.items() if param.kind == "several"]
_FORGOTTEN = object()
_MANY = 20
"""Keys that are found sooner in a copy of the session, where one that is missing costs no exception."""


@dataclass(frozen=True)
class Moment:
    """What was chosen at some moment."""

    values: Mapping[str, Any]
    """Of every parameter but those `AROUND` the pages."""
    pinned: Mapping[str, Any] | None
    pair: tuple[str, bool]
    """The text in which query and key were chosen, and whether by the visitor or a link."""
    notices: tuple[str, ...] = field(default=(), compare=False)
    """What had to be changed in the choices, to be said on `page`."""
    page: str = field(default="", compare=False)
    when: float = field(default=0.0, compare=False)


class SessionChoices:
    """What a session notes of its choices, beside the parameters' own keys."""

    def __init__(self) -> None:
        self.page = ""
        """The page that was drawn last, by its path."""
        self.moments: list[Moment] = []
        """The newest last; empty before the first page is open."""
        self.pinned: Mapping[str, Any] | None = None
        """By the sidebar's keys."""
        self.pair = (DEFAULT_TEXT, False)
        """As in a `Moment`."""
        self.replaced: dict[str, tuple[Any, Any, float, bool]] = {}
        """By parameter the old value, the new one, when, and whether by a second field."""
        self.drawn: dict[str, Hashable] = {}
        """How each parameter's widget was drawn last: Streamlit forgets the value when that changes."""
        self.token = secrets.token_hex(8)
        """By which a browser knows the session."""
        self.address_read: Texts | None = None
        self.address_written: tuple[str, Texts | None, Mapping[str, Any]] = ("", None, {})
        """The page, what was written into the address, and when."""


def session_choices() -> SessionChoices:
    """Return the session's choices."""
    if CHOICES not in st.session_state:
        st.session_state[CHOICES] = SessionChoices()
    found: SessionChoices = st.session_state[CHOICES]
    return found


def current_value(key: str) -> Any:
    """Return one choice."""
    value = st.session_state.get(key, _FORGOTTEN)
    return _read_values({}, (key,))[key] if value is _FORGOTTEN else value


def current_values(keys: Iterable[str]) -> dict[str, Any]:
    """Return choices: of the session, or of the last moment if Streamlit has forgotten a widget."""
    session, wanted = st.session_state, tuple(keys)
    return _read_values(session if len(wanted) < _MANY else session.to_dict(), wanted)


def _read_values(session: Any, keys: Iterable[str]) -> dict[str, Any]:
    kept, found = session_choices().moments, {}
    last = kept[-1].values if kept else {}
    for key in keys:
        value = session.get(key, _FORGOTTEN)
        found[key] = last.get(key, PARAMS[key].default) if value is _FORGOTTEN else value
    return found


def set_values(values: Mapping[str, Any], *, by_second_field: bool = False) -> None:
    """Set parameters; query and key, if they are among them, are those of the text then."""
    old = current_values({*values, "text"})
    # Streamlit reads the whole session for each menu and field: what nobody has changed stays out of it.
    st.session_state.update({key: value for key, value in values.items() if value != old[key]})
    if session_choices().moments:
        note_replaced("text", old["text"], by_second_field=by_second_field)
    if values.keys() & {"query", "key"}:
        note_focus_text()


def note_replaced(key: str, old: Any, *, by_second_field: bool = False) -> None:
    """Note that a callback has replaced a value: until the run ends, a browser may send the old one."""
    if current_value(key) != old:
        session_choices().replaced[key] = (old, current_value(key), monotonic(), by_second_field)


def is_late(key: str, value: Any, *, in_second_field: bool = False) -> bool:
    """Whether a widget with this value has not heard yet that it was replaced."""
    old, _, when, by_second_field = session_choices().replaced.get(key, (_FORGOTTEN, None, 0.0, False))
    return bool(value == old and monotonic() - when < LATE and not (in_second_field and by_second_field))


def keep_replaced() -> None:
    """Undo what a widget has reported late; for a button's callback, which may run before the widget's own."""
    kept = session_choices().replaced
    for key, (old, new, *_) in list(kept.items()):
        value = current_value(key)
        if is_late(key, value):
            st.session_state[key] = new
        elif value not in (old, new):
            del kept[key]


def take_moment() -> Moment:
    """Return what is chosen now."""
    values, noted = current_values(_UNDONE), session_choices()
    return Moment(values | {key: tuple(values[key]) for key in _SEVERAL}, noted.pinned, noted.pair)


def note_moment(now: Moment, notices: Sequence[str] = (), page: str = "", *, is_new: bool) -> None:
    """Note what is chosen now: as a new moment, or in the place of the last one."""
    kept = session_choices().moments
    last = replace(now, when=monotonic()) if is_new else kept.pop()
    is_other_network = now.values["run"] != last.values["run"]  # which the last notices said was missing
    said = (tuple(notices), page) if notices or is_other_network else (last.notices, last.page)
    kept.append(replace(now, notices=said[0], page=said[1], when=last.when))
    del kept[:-LONGEST]


def restore(moment: Moment) -> None:
    """Choose all that was chosen then; for callbacks."""
    set_values(moment.values)
    noted = session_choices()
    noted.pair, noted.pinned = moment.pair, moment.pinned


def last_moment(fits: Callable[[str], bool]) -> Moment | None:
    """Return the last moment whose weights fit, if there is one."""
    return next((each for each in reversed(session_choices().moments) if fits(each.values["weights"])), None)


def last_move() -> tuple[Moment | None, float]:
    """Return the moment before the visitor's last move of an architecture's setting, and seconds since then."""
    keys, kept = (*ARCHITECTURE, "causal", "seed", "weights"), session_choices().moments
    shapes = [[each.values[key] for key in keys] for each in kept]
    if kept and shapes[-1] != list(current_values(keys).values()):
        return kept[-1], 0.0
    moved = next((i for i in range(len(kept) - 1, 0, -1) if shapes[i] != shapes[i - 1]), 0)
    return (kept[moved - 1], monotonic() - kept[moved].when) if moved else (None, inf)


def current_notices() -> tuple[str, ...]:
    """Return what had to be changed in the present choices, for the open page."""
    last = session_choices().moments[-1]
    return last.notices if last.page == session_choices().page else ()


def pin(values: Mapping[str, Any] | None = None) -> None:
    """Pin settings, of all the sidebar's keys; None pins nothing."""
    session_choices().pinned = None if values is None else {key: values[key] for key in SHARED}


def note_focus_text(text: str | None = None, *, by_page: bool = False) -> None:
    """Note that query or key were chosen in this text, or in the present one."""
    session_choices().pair = (current_value("text") if text is None else text, not by_page)


_Read = tuple[object, Lab, Lab | None]

_READ: ContextVar[_Read | None] = ContextVar("labs_read_in_this_run", default=None)


def _read_labs() -> _Read:
    context = get_script_run_ctx(suppress_warning=True)
    run = context.cursors if context is not None and context.has_script_started else None
    read = _READ.get()
    if run is None or read is None or read[0] is not run or read[1]["do"] != current_value("do"):
        pinned = session_choices().pinned
        read = run, lab_of(current_values(SHARED)), None if pinned is None else lab_of(pinned)
        _READ.set(read)
    return read


def current_setup() -> Lab:
    """Return the lab of the visitor's choices: one a run, unless a page changes `do`."""
    return _read_labs()[1]


def pinned_setup() -> Lab | None:
    """Return the lab of the pinned settings; None if nothing is pinned."""
    return _read_labs()[2]


def lab_of(values: Mapping[str, Any]) -> Lab:
    """Return a lab of these values, with the weights that this session has for them."""
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
    """Return a state of the small English; of the nearest shipped encoder if nobody has trained what was chosen."""
    spec = params.spec_of(values)
    if values["untrained"]:
        return State(values, WeightsId(BEFORE + spec.key))
    if caches.APP.find_english(spec) is not None:
        return State(values, WeightsId(AFTER + spec.key))
    nearest = nearest_shipped(spec.config, causal=spec.causal)
    return State({**values, **params.values_of(nearest)}, WeightsId(AFTER + nearest.key), chosen=values)


def trained_network(lab: Lab) -> TrainedNetwork | None:
    """Return the network trained in this session whose weights, trained or initial, are the chosen ones."""
    return own_models.shown_network(lab["run"]) if lab["weights"] == "trained here" else None


def own_weights(values: Mapping[str, Any]) -> UploadedWeights | TrainedNetwork | None:
    """Return the session's upload (`mine`) or trained network (`trained here`), if that is chosen and there."""
    if values["weights"] == "mine":
        return own_models.session_models().upload
    return own_models.shown_network(values["run"]) if values["weights"] == "trained here" else None


def recognised_weights(values: Mapping[str, Any]) -> RecognisedWeights | None:
    """Return what the session's upload or trained network decides, if it is chosen and there."""
    own = own_weights(values)
    return own.recognised if own else None


# --- the focus: one layer, head, query and key, which every page looks at; a run shows the nearest that it has


def last_places(run: Run) -> Focus:
    """Return the last layer, head, query and key that a run has."""
    return opening.last_places(run.config, run.n_real, len(run.tokens))


def current_focus(run: Run) -> Focus:
    """Return the focus as this run has it: what was asked for, or the nearest."""
    return opening.nearest_places(current_values(FOCUS), last_places(run))


def settle_tokens(run: Run) -> None:
    """Move query and key, which were chosen in another text, to the same words of this run, or choose a pair."""
    if session_choices().pair[0] == current_value("text"):
        return
    before = _tokens_before() if session_choices().pair[1] else []
    same_words = (_find_same_word(before, run.real_tokens, current_value(place)) for place in ("query", "key"))
    query, key = (None if at is None or run.special[at] else at for at in same_words)
    by_page = query is None
    if query is None or key is None or query == key:
        chosen = choose_pair(run, current_focus(run), query)
        query, key = chosen.query, chosen.key
    st.session_state.update({"query": query, "key": key})
    note_focus_text(by_page=by_page)
    rival = current_value("attention_rival")
    if rival.isdecimal():
        same = _find_same_word(before, run.real_tokens, int(rival))
        st.session_state["attention_rival"] = AUTOMATIC if same is None else str(same)


def _tokens_before() -> Sequence[str]:
    """Return the tokens of the text in which query and key were chosen."""
    lab = lab_of({**current_setup().values, "text": session_choices().pair[0], "mask": params.NO_MASK})
    try:
        return lab.batch.tokens[lab.sentence] if lab.text.sentences else ()
    except PlaygroundError:
        return ()


def _find_same_word(before: Sequence[str], tokens: Sequence[str], place: int) -> int | None:
    """Return where the token at a place of the text before stands now, as near to its old place as it does."""
    if place >= len(before):
        return None
    same = [at for at, token in enumerate(tokens) if token.lower() == before[place].lower()]
    return min(same, key=lambda at: abs(at - place), default=None)


def moved_places(run: Run) -> list[str]:
    """Return the places that somebody asked for and this run has not; defaults nobody asked for."""
    last = asdict(last_places(run))
    return [place for place in FOCUS if last[place] < current_value(place) != FOCUS[place].default]


# --- texts that are too long: a field that knows the limit refuses a longer paste without a word


def cut_text(key: str, text: str) -> str:
    """Return as much of a text as its parameter may hold; `explain_cut_text` then says what was left out."""
    kept = text[: PARAMS[key].longest]
    if kept != text:
        st.session_state[f"_{key}_cut"] = (kept, len(text))
    return kept


def explain_cut_text(key: str) -> None:
    """Say below a field how much of its text was left out."""
    kept, n_characters = st.session_state.get(f"_{key}_cut", (None, 0))
    if kept is not None and kept == st.session_state[key]:
        st.caption(
            f":material/content_cut: Of this text's {n_characters:,} characters, only the first {len(kept):,} fit."
        )
