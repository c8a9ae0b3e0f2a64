"""The tour: a newcomer's first five minutes in a few steps on the app's own pages, and where on it the visitor is.

The step lies in the session as a plain value, as the focus does: `open_page` reads it from the link once, and
`correct_address` writes it there.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

import streamlit as st

from playground.errors import PlaygroundError
from playground.link.params import DEFAULT_TEXT, SHARED
from playground.text.sentences import choose_pronoun
from playground.web.choices.setup import (
    OPEN_PAGE,
    Action,
    clear_actions,
    current_setup,
    current_value,
    is_focus_of_text,
    pinned_values,
    recognised_weights,
    recorded_actions,
)


@dataclass(frozen=True)
class TourState:
    """What the steps ask of a session."""

    page: str
    """The open page, by its path."""
    text: str
    """What is typed into the sidebar."""
    word: str | None = None
    """The token of the shown sentence whose row is worth a look, if one is."""
    actions: frozenset[Action] = frozenset()
    """What the visitor did by hand since the step began."""
    is_pinned: bool = False
    """Whether settings are pinned."""
    is_changed: bool = False
    """Whether the present settings differ from the pinned ones."""
    computation: str = "sources"
    """Which step of the computation behind a cell is open."""
    is_mask_free: bool = True
    """Whether the visitor can switch the causal mask."""
    shows_one_head: bool = True
    """Whether the page Attention shows a single head, and so the computation behind a cell."""


@dataclass(frozen=True)
class TourStep:
    """One thing to do."""

    name: str
    sentence: Callable[[TourState], str]
    is_done: Callable[[TourState], bool]
    page: str | None = None
    """Where it is done, by the page's path; None: on every page."""
    target: str | None = None
    """The container there that the visitor needs, by its key; None: what is needed is in the sidebar."""
    target_on_phone: str | None = None
    """The container that the visitor needs where columns are stacked, if it is another."""
    has_target: Callable[[TourState], bool] = lambda _: True
    """Whether the page has that container."""
    in_sidebar: bool = False
    """Whether it is done in the sidebar, which a phone hides."""
    skip_label: str = "Skip"
    hint: Callable[[TourState], str | None] = lambda _: None
    """What has to be done before, if anything."""

    def words(self, state: TourState) -> tuple[str, str | None, bool]:
        """What the line says in this state: its sentence, its hint, and whether it can show what is needed."""
        return self.sentence(state), self.hint(state), self.target is not None and self.has_target(state)


def has_own_text(state: TourState) -> bool:
    """Whether the visitor typed something else than the default."""
    return state.text.strip() not in ("", DEFAULT_TEXT)


def has_chosen_cell(state: TourState) -> bool:
    """Whether a query or a key was chosen where its weights are to be seen."""
    return state.page == "attention" and "cell chosen" in state.actions


def has_opened_computation(state: TourState) -> bool:
    """Whether another step of the computation behind the cell was opened."""
    return "computation opened" in state.actions


def has_pinned(state: TourState) -> bool:
    """Whether settings are pinned."""
    return state.is_pinned


def has_changed_setting(state: TourState) -> bool:
    """Whether there is a before and an after."""
    return state.is_pinned and state.is_changed


def has_copied_link(state: TourState) -> bool:
    """Whether the link to the view was copied."""
    return "link copied" in state.actions


def _always(sentence: str) -> Callable[[TourState], str]:
    return lambda _: sentence


def _ask_for_row(state: TourState) -> str:
    row = f"the row of *{state.word}*" if state.word else "the row of any word"
    return f"In the large map, find {row}. Click the cell of the word that it looks at most."


def _ask_for_computation(state: TourState) -> str:
    other = "**products**" if state.computation == "competition" else "**competition**"
    return f"Read why this cell is strong or weak. Then press {other} to see more of the answer."


def _ask_for_one_head(state: TourState) -> str | None:
    return None if state.shows_one_head else "Set **Show** to *one head* first: the answer is about one head."


def _ask_for_setting(state: TourState) -> str:
    example = "**causal mask** under **Tokens and masks**" if state.is_mask_free else "your text"
    return f"Change one setting in the sidebar, such as {example}."


def _ask_to_pin(state: TourState) -> str | None:
    return None if state.is_pinned else "Press **Pin this, to compare** first: nothing is kept from before yet."


def _ask_for_link(state: TourState) -> str:
    copy = "**Copy link to this view** in the sidebar, and send it."
    return f"Compare before and now in the charts. Then press {copy}" if has_changed_setting(state) else f"Press {copy}"


STEPS = (
    TourStep(
        "text",
        _always("Type a sentence of your own, with a word such as *it* that stands for another word."),
        has_own_text,
        skip_label="Keep this sentence",
    ),
    TourStep(
        "cell",
        _ask_for_row,
        has_chosen_cell,
        page="attention",
        target="attention_pattern",
    ),
    TourStep(
        "why",
        _ask_for_computation,
        has_opened_computation,
        page="attention",
        target="why_steps",
        target_on_phone="why",
        has_target=lambda state: state.shows_one_head,
        hint=_ask_for_one_head,
    ),
    TourStep(
        "pin",
        _always("Press **Pin this, to compare**, below the page's title: it keeps all settings as they are now."),
        has_pinned,
        page="attention",
        target="pin_line",
    ),
    TourStep(
        "change",
        _ask_for_setting,
        has_changed_setting,
        page="attention",
        in_sidebar=True,
        hint=_ask_to_pin,
    ),
    TourStep(
        "link",
        _ask_for_link,
        has_copied_link,
        page="attention",
        target="head_pinned",
        has_target=has_pinned,
        in_sidebar=True,
    ),
)


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
