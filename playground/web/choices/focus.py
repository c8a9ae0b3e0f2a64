"""The focus: one layer, head, query token and key token, which every page looks at and the link carries.

It lies in the session as plain values, bound to no widget: a widget's value leaves the link with its page. `open_page`
reads it from the link once, `correct_address` writes it there. A step back in the browser's history keeps it: every
page opens at the present focus, and Streamlit empties the addresses of pages that it leaves.

In another text, query and key that were chosen move to the same words where those still stand. Else, and where they
were special tokens, which say nothing of the new text, the page chooses a pair that says something. That then is the
selection on every page and in the link.

The session keeps what the visitor asked for. A run that has not so many layers, heads or tokens shows the nearest; a
larger one shows again what was asked for.

Pages that look at another model than the sidebar's keep a selection of their own: Decoder, Gradient flow (whose two
encoders have their own number of layers, without heads or tokens to look at), Training, Regularisers. Parameters counts
without running anything, so it frames the layer alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import streamlit as st

from playground.link import opening, query
from playground.link.opening import Focus, choose_pair
from playground.link.params import AUTOMATIC, FOCUS, SHARED, write_all
from playground.runs.encoder_run import Run
from playground.web.choices.setup import (
    current_value,
    is_focus_chosen,
    is_focus_of_text,
    note_focus_text,
)
from playground.web.choices.shortcuts import choose_values, keep_replaced

_TOKENS = "_focus_tokens"
"""Session key of the tokens of the text that was run last, padding left out."""


def last_places(run: Run) -> Focus:
    """The last layer, head, query and key that a run has."""
    return opening.last_places(run.config.n_layers, run.config.n_heads, run.n_real, len(run.tokens))


def current_focus(run: Run) -> Focus:
    """The focus as this run has it: what was asked for, or the nearest."""
    return opening.nearest_places({place: _asked_for(place) for place in FOCUS}, last_places(run))


def settle_tokens(run: Run) -> None:
    """Move query and key into the present text, where they were chosen in another one; `run` is of the present."""
    tokens = run.real_tokens
    if not is_focus_of_text():
        focus, before = current_focus(run), st.session_state.get(_TOKENS, []) if is_focus_chosen() else []
        same_words = (_find_same_word(before, tokens, _asked_for(place)) for place in ("query", "key"))
        query, key = (None if at is None or run.special[at] else at for at in same_words)
        by_page = query is None
        if query is None or key is None or query == key:
            chosen = choose_pair(run, focus, query)
            query, key = chosen.query, chosen.key
        st.session_state.update({"query": query, "key": key})
        note_focus_text(by_page=by_page)
        rival = current_value("attention_rival")
        if rival.isdecimal():
            same = _find_same_word(before, tokens, int(rival))
            st.session_state["attention_rival"] = AUTOMATIC if same is None else str(same)
    st.session_state[_TOKENS] = tokens


def _find_same_word(before: Sequence[str], tokens: Sequence[str], place: int) -> int | None:
    """Where the token at a place of the text before stands now, as near to its old place as it does; else None."""
    if place >= len(before):
        return None
    same = [at for at, token in enumerate(tokens) if token.lower() == before[place].lower()]
    return min(same, key=lambda at: abs(at - place), default=None)


def moved_places(run: Run) -> list[str]:
    """The layer, head, query or key that somebody asked for and this run has not; defaults nobody asked for."""
    last = asdict(last_places(run))
    return [place for place in FOCUS if last[place] < _asked_for(place) != FOCUS[place].default]


def _asked_for(place: str) -> int:
    return int(st.session_state.get(place, FOCUS[place].default))


def choose_places(**chosen: object) -> None:
    """Ask for a layer, head, query or key, or for values of a page's own parameters, by their keys in the link.

    For callbacks of what the page has drawn: keys are trusted, and a value that its parameter cannot be is left out.
    """
    move_focus(**chosen)
    for key in chosen.keys() - FOCUS.keys():
        value, complaint = query.read(key, write_all(chosen[key]))
        if complaint is None:
            st.session_state[key] = value


def choose(chosen: Mapping[str, Any]) -> None:
    """Choose values of any parameters, by their keys in the link; for callbacks."""
    keep_replaced()
    choose_values({key: value for key, value in chosen.items() if key in SHARED or key == "do"})
    choose_places(**{key: value for key, value in chosen.items() if key not in SHARED and key != "do"})


def move_focus(**asked: object) -> None:
    """Ask for a layer, head, query or key; the others stay. What is none of them, or no number, is left out.

    For callbacks: what the browser sends is as little to be trusted as a link.
    """
    known = {place: query.read(place, [str(value)]) for place, value in asked.items() if place in FOCUS}
    numbers = {place: value for place, (value, complaint) in known.items() if complaint is None}
    st.session_state.update(numbers)
    if numbers.keys() & {"query", "key"}:
        note_focus_text()
