"""The visitor's place on a tour: which tour and which of its steps, what was done since, and what the steps are told.

Tour and step lie in the session as plain values, as the focus does: `open_page` reads them from the link once, and
`correct_address` writes them there. The number behind the last step is the tour's end, with its conclusion.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import Any

import streamlit as st

from playground.errors import InputError, PlaygroundError
from playground.learn.lesson import find_lesson
from playground.learn.tour import Evidence, Step, Tour, TourState
from playground.learn.tours import TOURS, lesson_tour
from playground.link.changes import Changes
from playground.link.params import EXPERIMENTS, PARAMS, SHARED, TOUR
from playground.pages import page_at
from playground.text import Batch
from playground.web.choices import shortcuts
from playground.web.choices.open_page import follow_link
from playground.web.choices.setup import (
    OPEN_PAGE,
    Action,
    clear_actions,
    current_setup,
    current_value,
    is_focus_of_text,
    pin,
    record_action,
    recorded_actions,
    replace_notices,
    unpin,
)
from playground.web.choices.snapshots import Snapshot, restore_snapshot, take_snapshot
from playground.web.session import trained_slot
from playground.web.session.caches import shipped_exercises
from playground.web.shared.navigation import request_page

_HELD = "_tour_held"
"""Session key of whether the visitor went back to this step: once it is done, it waits until the visitor goes on."""

_DRAWN = "_tour_words"
"""Session key of what the line was drawn from last."""

_BEGAN = "_tour_began"
"""Session key of the values of all parameters when the step began."""

_ANSWERS = "_tour_answers"
"""Session key of what the visitor guessed on this tour, by the step's name."""


_DONE_BY_BUTTON: Action = "step done by its button"
"""The action of a visitor who has had the step done."""

_LEFT_AT = "_lessons_left_at"
"""Session key of the step at which the visitor has left each lesson, by its key or as a whole."""

_OWN = "_tour_own"
"""Session key of the weights, the text, and the layer and head that the visitor had before an experiment."""

_HAD = "_lesson_had"
"""Session key of the `Snapshot` of what the visitor had chosen when they began a lesson."""

_OPENED = "_lesson_opened"
"""Session key of the `Snapshot` of what the lesson's last state came with."""

_ARRIVED = "_tour_arrived"
"""Session key of whether the tour has come to another step, or to its end, just now."""


def current_tour() -> Tour | None:
    """The tour that the visitor is on, also at its end; None where on none."""
    if not int(st.session_state.get("tour", 0)):
        return None
    lesson = current_lesson()
    if lesson:
        with suppress(InputError):  # the line says what is wrong with it
            return _lesson_tour(lesson)
        return None
    name = str(st.session_state.get("experiment", EXPERIMENTS[0]))
    return TOURS.get(name, next(iter(TOURS.values())))


def current_lesson() -> str:
    """The lesson that the link names, by its key or as a whole; empty where it names none."""
    return str(st.session_state.get("lesson", ""))


def lesson_problem() -> str:
    """Why the lesson that the visitor is on cannot be read; empty where it can."""
    try:
        if int(st.session_state.get("tour", 0)) and current_lesson():
            _lesson_tour(current_lesson())
    except InputError as error:
        return str(error)
    return ""


@lru_cache(maxsize=64)
def _lesson_tour(name: str) -> Tour:
    return lesson_tour(find_lesson(name), name, shipped_exercises())


def step_number() -> int:
    """The step's number from 1, one more than there are steps at the tour's end; 0 where on no tour."""
    tour = current_tour()
    return 0 if tour is None else min(int(st.session_state["tour"]), len(tour.steps) + 1)


def current_step() -> Step | None:
    """The step that the visitor is at; None where on no tour, and at its end."""
    tour, number = current_tour(), step_number()
    return tour.steps[number - 1] if tour is not None and number <= len(tour.steps) else None


def has_arrived() -> bool:
    """Whether the visitor's last action has led to another step, or to the tour's end; true once."""
    return bool(st.session_state.pop(_ARRIVED, False))


def current_state() -> TourState:
    """What the steps are told of this session, as it is now."""
    batch, sentence = _read_batch()
    tokens = () if batch is None else tuple(batch.tokens[sentence])
    values = _all_values()
    return TourState(
        page=page_at(st.session_state[OPEN_PAGE]).path,
        values=values,
        began=st.session_state.get(_BEGAN, values),
        actions=recorded_actions(),
        answers=dict(st.session_state.get(_ANSWERS, {})),
        tokens=tokens,
        special=() if batch is None else tuple(batch.special[sentence])[: len(tokens)],
        batch=batch,
        has_focus=is_focus_of_text(),
        trained=trained_slot.session_slot().trained,
    )


def _all_values() -> Mapping[str, Any]:
    return {key: current_value(key) for key in PARAMS}


def _read_batch() -> tuple[Batch | None, int]:
    """The text's tokens, None where it cannot be read; and which sentence is shown, from 0."""
    setup = current_setup()
    if setup.text.sentences:
        with suppress(PlaygroundError):
            return setup.batch, setup.sentence
    return None, 0


def is_done(step: Step) -> bool:
    """Whether the visitor has done the step, or has had it done."""
    state = current_state()
    return _DONE_BY_BUTTON in state.actions or step.is_done(state)


def _waits(step: Step) -> bool:
    """Whether the tour stays at the step once it is done, as there is something to be read."""
    return step.result is not None or st.session_state.get(_HELD, False)


def advance() -> bool:
    """Move on from the steps that are done and do not wait; returns whether there was one."""
    before = step_number()
    if current_tour() is not None:
        st.session_state["tour"] = before  # a link may have asked for more steps than this tour has
        st.session_state.setdefault(_BEGAN, _all_values())  # where the tour came with a link
    while (step := current_step()) is not None and is_done(step) and not _waits(step):
        go_to(step_number() + 1)
    return step_number() != before


def update() -> bool:
    """Move on, at the end of a fragment's run; returns whether the line above the page is out of date by now."""
    if current_tour() is None:
        return False
    return advance() or _words() != st.session_state.get(_DRAWN)


def note_drawn() -> None:
    """Note what the line is drawn from now, so that a change of it is seen."""
    st.session_state[_DRAWN] = _words()


def _words() -> tuple[object, ...]:
    """A step's words; where it is done and at the end, the whole state."""
    step, state = current_step(), current_state()
    return (replace(state, actions=frozenset()),) if step is None or is_done(step) else step.words(state)


def begin_tour(tour: Tour, gather_evidence: Callable[[], Evidence]) -> None:
    """Begin a tour at its first step, with what it starts with; for callbacks. Raises as what is gathered."""
    shortcuts.keep_replaced()
    own = {key: current_value(key) for key in ("weights", "text", "layer", "head")}
    weights = own["weights"]
    shortcuts.choose_values(tour.starts(gather_evidence()))
    if current_value("weights") != weights:  # which cut the text into other tokens, so that others are to be chosen
        shortcuts.choose_values(tour.starts(gather_evidence()))
    st.session_state.update({"experiment": tour.name, "lesson": "", _ANSWERS: {}, _OWN: own})
    go_to(1)


def begin_lesson(name: str, number: int = 1) -> None:
    """Begin a lesson, at its first step or at another, by its number; for callbacks. Raises as `find_lesson`."""
    find_lesson(name)
    if not (current_lesson() and step_number()):
        leave()  # an experiment, whose network and heads that are off are not this lesson's
        st.session_state[_HAD] = _take_snapshot()
        st.session_state.pop(_OPENED, None)
    st.session_state.update({"experiment": EXPERIMENTS[0], "lesson": name, _ANSWERS: {}})
    go_to(number)


def _take_snapshot() -> Snapshot:
    return take_snapshot(PARAMS.keys() - TOUR.keys())


def brings_back() -> bool:
    """Whether leaving gives back what the visitor had: a lesson that came with a link began with its own."""
    return bool(current_lesson()) and _HAD in st.session_state


def _bring_back() -> None:
    """Bring back what the visitor had before the lesson, but for what they have changed since it last set it."""
    had, opened = (st.session_state.pop(key, None) for key in (_HAD, _OPENED))
    if had is None or opened is None:
        return
    now = _take_snapshot()
    kept: set[str] = set()
    if now.values["text"] != opened.values["text"]:
        kept |= _OF_TEXT
        had = replace(had, focus_text=now.focus_text, is_focus_chosen=now.is_focus_chosen)
    settings = SHARED.keys() - _OF_TEXT
    if now.pinned != opened.pinned or any(now.values.get(key) != opened.values.get(key) for key in settings):
        kept |= settings
        had = replace(had, put_away=now.put_away)
    elif had.pinned is None:
        unpin()
    else:
        pin(had.pinned)
    values = {key: value for key, value in had.values.items() if key not in kept}
    restore_snapshot(replace(had, values=values, pinned=None))


_OF_TEXT = frozenset({"text", "sentence", "query", "key"})
"""Parameters that mean something for one text alone."""


def step_left(name: str) -> int:
    """The number of the step at which the visitor has left a lesson in this session; 0 where they have not."""
    return int(st.session_state.get(_LEFT_AT, {}).get(name, 0))


def go_to(number: int) -> None:
    """Begin a step of this tour, by its number; behind the last one is the end."""
    clear_actions()
    st.session_state["tour"] = number
    open_step()
    st.session_state.update({_HELD: False, _BEGAN: _all_values(), _ARRIVED: True})


def say_result(step: Step, gather_evidence: Callable[[], Evidence]) -> str:
    """What came of the step that is done; empty where there is nothing to be said."""
    with suppress(PlaygroundError):  # the page says what is wrong
        return "" if step.result is None else step.result(gather_evidence())
    return ""


def open_step() -> None:
    """Open the state that the step begins with, if it has one, on its page; for callbacks."""
    step = current_step()
    if step is not None and step.opens:
        place = {key: st.session_state[key] for key in TOUR if key in st.session_state}
        page = follow_link(step.opens)
        st.session_state.update(place)
        st.session_state[_OPENED] = _take_snapshot()
        request_page(page)


def answer(word: str, gather_evidence: Callable[[], Evidence]) -> None:
    """Take the visitor's guess, by its word, and choose what it stands for; for callbacks. Raises as the evidence.

    It is about the values that there are then.
    """
    step = current_step()
    if step is not None:
        if step.sets_answer is not None:
            shortcuts.choose_values(step.sets_answer(gather_evidence(), word))
        st.session_state[_ANSWERS] = {**st.session_state.get(_ANSWERS, {}), step.name: word}
        st.session_state[_BEGAN] = _all_values()


def do_step(evidence: Evidence) -> None:
    """Choose what the step asks for, which does it; for callbacks. Raises as `evidence`."""
    step = current_step()
    if step is None or step.sets is None:
        return
    text = current_value("text")
    choices = step.sets(evidence)
    shortcuts.choose_values(choices)
    if choices and choices.get("text", text) == text:
        record_action(_DONE_BY_BUTTON)


def go_back() -> None:
    """Begin the step before, which may be done already: it stays until the visitor goes on."""
    number = max(step_number() - 1, 1)
    go_to(number)
    step = current_step()
    if step is not None:
        answers: Mapping[str, str] = st.session_state.get(_ANSWERS, {})
        st.session_state[_ANSWERS] = {name: word for name, word in answers.items() if name != step.name}
    st.session_state[_HELD] = True


def begin_step(gather_evidence: Callable[[], Evidence]) -> None:
    """Choose what a step begins with that the tour has come to just now; before the page is drawn."""
    step = current_step()
    if step is not None and step.begins is not None and st.session_state.get(_ARRIVED):
        with suppress(PlaygroundError):  # the page says what is wrong
            shortcuts.choose_values(step.begins(gather_evidence()))
            st.session_state[_BEGAN] = _all_values()


def has_heads_off() -> bool:
    """Whether one of the visitor's changes is a head that is off."""
    return any(each.change.kind == "zero" for each in current_value("do").made)


def choices_before_network() -> Mapping[str, Any]:
    """What leaving an experiment brings back in the place of its trained network; nothing where it took none along.

    The text is among it where the network's example took its place.
    """
    own: Mapping[str, Any] = st.session_state.get(_OWN, {})
    if current_value("weights") != "trained here" or own.get("weights", "trained here") == "trained here":
        return {}
    trained = trained_slot.session_slot().trained
    is_example = trained is not None and current_value("text") == trained.example
    return own if is_example else {key: value for key, value in own.items() if key != "text"}


def leave() -> None:
    """End the tour where it is.

    After an experiment, the heads that are off are on again, and a trained network that it took along makes way for the
    weights, the text and the head that were there before. After a lesson, its step is kept, and what the visitor had
    before comes back.
    """
    if step_number() and not current_lesson():
        shortcuts.keep_replaced()
        made = current_value("do").made
        st.session_state["do"] = Changes(tuple(each for each in made if each.change.kind != "zero"))
        before = choices_before_network()
        if before:
            shortcuts.choose_values(before)
            brought_back = "Your sentence and the weights" if "text" in before else "The weights"
            replace_notices(current_setup(), [f"{brought_back} that you had before the experiment are back."])
    if current_lesson() and current_step() is not None:
        st.session_state[_LEFT_AT] = {**st.session_state.get(_LEFT_AT, {}), current_lesson(): step_number()}
    if current_lesson() and step_number():
        _bring_back()
    st.session_state.update({"tour": 0, "experiment": EXPERIMENTS[0], "lesson": ""})


def is_out_of_place() -> bool:
    """Whether an experiment is at its end on the front page, where another one begins."""
    tour = current_tour()
    is_over = tour is not None and tour.conclude is not None and current_step() is None
    return is_over and page_at(st.session_state[OPEN_PAGE]).path == "overview"


def leave_where_out_of_place() -> None:
    """End an experiment that is over as the front page opens, and start again; before any widget is drawn.

    What comes back are values of widgets, which have to be made to go together as after a press.
    """
    if is_out_of_place():
        leave()
        st.rerun()
