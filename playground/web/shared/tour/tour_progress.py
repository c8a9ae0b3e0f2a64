"""Where the visitor is on the tour. The link has the step's number, `tour`, from 1; 0 stands for no tour.

It lies in the session as a plain value, as the focus does: `open_page` reads it from the link once, and
`correct_address` writes it there.
"""

from contextlib import suppress
from dataclasses import replace

import streamlit as st

from playground.errors import PlaygroundError
from playground.link.params import SHARED
from playground.text.pronouns import choose_pronoun
from playground.web.choices.actions import clear_actions, recorded_actions
from playground.web.choices.pinned import pinned_values
from playground.web.choices.setup import (
    OPEN_PAGE,
    current_setup,
    current_value,
    is_focus_of_text,
    recognised_weights,
)
from playground.web.shared.tour.tour_steps import STEPS, TourState, TourStep

KEY = "tour"

_HELD = "_tour_held"
"""Session key of the state in which the visitor went back to a step: until it changes, the step waits."""

_DRAWN = "_tour_words"
"""Session key of the words that the line had when it was drawn last."""

_FINISHED = "_tour_finished"
"""Session key of whether the last step was done and the tour's last words are still on the page."""


def step_number() -> int:
    """The step's number from 1; 0 where the visitor is on no tour."""
    return int(st.session_state.get(KEY, 0))


def current_step() -> TourStep | None:
    """The step that the visitor is at; None where on no tour."""
    number = step_number()
    return STEPS[number - 1] if number else None


def is_finished() -> bool:
    """Whether the tour was taken to its end just now."""
    return bool(st.session_state.get(_FINISHED, False))


def current_state() -> TourState:
    """What the steps ask of this session, as it is now."""
    pinned, recognised = pinned_values(), recognised_weights(current_value("weights"))
    return TourState(
        page=st.session_state[OPEN_PAGE],
        text=current_value("text"),
        word=_word_to_ask(),
        actions=recorded_actions(),
        is_pinned=pinned is not None,
        is_changed=pinned is not None and any(pinned[key] != current_value(key) for key in SHARED),
        is_mask_free=recognised is None or "causal" not in recognised.settings,
        computation=current_value("attention_why"),
        shows_one_head=current_value("attention_show") == "one head",
    )


def advance() -> bool:
    """Move on from the steps that are done; returns whether there was one."""
    before = step_number()
    while (step := current_step()) is not None and _is_done(step):
        go_to(step_number() + 1)
    return step_number() != before


def update() -> bool:
    """Move on, at the end of a fragment's run; returns whether the line above the page is out of date by now."""
    if advance():
        return True
    step = current_step()
    return step is not None and step.words(current_state()) != st.session_state.get(_DRAWN)


def current_words(step: TourStep) -> tuple[str, str | None, bool]:
    """The step's words as the line is to have them now."""
    words = step.words(current_state())
    st.session_state[_DRAWN] = words
    return words


def go_to(number: int) -> None:
    """Begin a step, by its number; after the last, the tour is finished."""
    clear_actions()
    is_step = number <= len(STEPS)
    st.session_state.update({KEY: number if is_step else 0, _FINISHED: not is_step, _HELD: None})


def go_back() -> None:
    """Begin the step before, which stays until the visitor does something: it may be done already."""
    go_to(max(step_number() - 1, 1))
    st.session_state[_HELD] = current_state()


def leave() -> None:
    """End the tour where it is."""
    st.session_state.update({KEY: 0, _FINISHED: False})


def _word_to_ask() -> str | None:
    """The query, or where nobody chose it in this text, the pronoun that the overview asks about; None of other."""
    setup = current_setup()
    if not setup.text.sentences:
        return None
    with suppress(PlaygroundError):
        tokens, special = setup.batch.tokens[setup.sentence], setup.batch.special[setup.sentence]
        if not tokens:
            return None
        query = min(int(current_value("query")), len(tokens) - 1)
        chosen = query if is_focus_of_text() else choose_pronoun(tokens)
        return tokens[chosen] if chosen is not None and tokens[chosen].isalnum() and not special[chosen] else None
    return None


def _is_done(step: TourStep) -> bool:
    state, held = current_state(), st.session_state.get(_HELD)
    return step.is_done(state) and (held is None or replace(state, page=held.page) != held)
