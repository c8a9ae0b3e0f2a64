"""Callbacks that choose an encoder of the small English: by a move away from MiniLM, or from one of them to another."""

import math
from time import monotonic
from typing import Any

import streamlit as st

from playground.language.text import english_tokenizer
from playground.link import english
from playground.link.params import ARCHITECTURE, DEFAULT_TEXT
from playground.text import split_sentences
from playground.web.choices.history import last_moment, restore, restore_shape
from playground.web.choices.setup import Setup, current_value, last_setup
from playground.web.choices.shortcuts import choose_values, keep_replaced, replace_text

_MOVED = "_moved_from"
"""Session key of the setup that was shown before the visitor's last move."""

_MOVED_AT = "_moved_at"
"""Session key of when that was, in seconds of the monotonic clock."""

_PENDING = "_english_pending"
"""Session key of whether MiniLM was left, and the small English has not been drawn since."""

LATE = 2.0
"""Seconds after a move away from MiniLM for which a browser may still send MiniLM's name, though that was drawn."""


def choose_english(**settings: Any) -> None:
    """Choose the small English's base with these settings instead; a text that it does not know gives way."""
    keep_replaced()
    _note_move(last_setup())
    values = {key: value for key, value in english.default_settings(settings).items() if key in ARCHITECTURE}
    text = current_value("text")
    if text == DEFAULT_TEXT or not knows(text):
        values["text"] = english.TEXT
        st.session_state["mask"] = english.PLACE
    choose_values({"weights": "english", "untrained": False, "causal": False, "seed": 0, **values, **settings})


def knows(text: str) -> bool:
    """Whether all words of a text are of the small English, and there are some."""
    sentences = split_sentences(text).sentences
    return bool(sentences) and not any(map(any, english_tokenizer().encode_batch(sentences).unknown))


def leave_minilm(key: str, value: Any) -> None:
    """Choose the small English with the one change that was made on MiniLM's control."""
    st.session_state[_PENDING] = True
    choose_english(**{key: value})


def note_drawn() -> None:
    """Note that the browser is told that the small English is chosen."""
    st.session_state[_PENDING] = False


def _may_be_late() -> bool:
    """Whether a browser may not have heard yet that MiniLM was left."""
    was_left = _PENDING in st.session_state and seconds_since_move() < LATE
    return was_left or bool(st.session_state.get(_PENDING))


def weights_chosen() -> None:
    """Follow the choice of other weights: the small English brings its base, the others their own shape."""
    if st.session_state["weights"] in ("minilm", "english") and _may_be_late():
        st.session_state["weights"] = "english"  # a control was moved: the browser has not heard of it, or has just now
        return
    if st.session_state["weights"] == "english":
        choose_english()
        return
    st.session_state["mask"], st.session_state["run"] = english.NO_MASK, ""
    if current_value("text") == english.TEXT:
        replace_text(DEFAULT_TEXT)
    restore_shape()


def back_to_minilm() -> None:
    """Bring back what was chosen before the small English, or else MiniLM with its own text."""
    st.session_state.pop(_PENDING, None)
    before = last_moment(lambda weights: weights == "minilm")
    if before is not None:
        restore(before)
        return
    text = {"text": DEFAULT_TEXT} if current_value("text") == english.TEXT else {}
    choose_values({"weights": "minilm", "untrained": False, **text})


def follow_move(key: str) -> None:
    """Move what follows a setting of the small English that the visitor has moved."""
    shown = last_setup()
    if shown is None:
        return
    before = shown.state.asked
    old = english.default_settings(before)
    new = english.default_settings({**before, key: st.session_state[key]})
    following = [each for each in english.FOLLOWING if each != key and before[each] == old[each]]
    st.session_state.update({each: new[each] for each in following})
    _note_move(shown)


def _note_move(shown: Setup | None) -> None:
    st.session_state[_MOVED], st.session_state[_MOVED_AT] = shown, monotonic()


def seconds_since_move() -> float:
    """How long ago the visitor moved a setting; infinite before the first time."""
    return monotonic() - float(st.session_state.get(_MOVED_AT, -math.inf))


def moved_from() -> Setup | None:
    """The setup before the visitor's last move; None before the first."""
    found: Setup | None = st.session_state.get(_MOVED)
    return found


def use_sentence(text: str, place: int) -> None:
    """Take a sentence of the small English and hide one of its words, by its position."""
    replace_text(text)
    st.session_state["mask"] = place
