"""The visitor's place in a lesson: its step, whether that is done, and what was chosen before the lesson began.

Lesson and step lie in the session as plain values, as the focus does: `open_page` reads them from the link once, and
`correct_address` writes them there.
"""

from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import streamlit as st
import torch

from playground.charts.markdown import escape_markdown
from playground.errors import InputError, PlaygroundError, UnavailableError
from playground.learn.formulas import Formula, Surroundings
from playground.learn.lesson import Lesson, LessonStep, fill_numbers, find_lesson, find_problem
from playground.link.opening import LinkedView, open_link
from playground.link.params import LESSON, PARAMS
from playground.pages import page_at
from playground.training.answers import first_sequences, score_changed
from playground.training.trained_network import TrainedNetwork
from playground.web.choices.history import Moment, restore, take_moment
from playground.web.choices.open_page import follow_link
from playground.web.choices.setup import OPEN_PAGE, Setup, current_setup, current_value, setup_of
from playground.web.choices.shortcuts import keep_replaced
from playground.web.components.without_picture import request_scroll
from playground.web.session import caches, own_models
from playground.web.session.experiments import validation_data
from playground.web.session.services import services
from playground.web.shared.navigation import request_page

_HAD = "_lesson_had"
"""Session key of the `Moment` before the lesson began."""

_GUESS = "_lesson_guess"
"""Session key of where the visitor guessed last, and of the guess by its place in the list."""

_DRAWN = "_lesson_drawn"
"""Session key of the result that the line was drawn with last."""

_UNNAMED = "pronoun"
"""The lesson of older links that have a step alone."""


def lesson_name() -> str:
    """Return the key or code of the lesson that the visitor is in; empty if in none."""
    return str(st.session_state.get("lesson", "")) or _UNNAMED if int(st.session_state.get("tour", 0)) else ""


class Place(NamedTuple):
    """A step of a lesson, by its number from 1."""

    lesson: Lesson
    number: int

    @property
    def step(self) -> LessonStep:
        """The step."""
        return self.lesson.steps[self.number - 1]


def current_place() -> Place | None:
    """Return where the visitor is, or None in no lesson; raises as `find_lesson`."""
    name = lesson_name()
    lesson = find_lesson(name) if name else None
    return Place(lesson, min(int(st.session_state["tour"]), len(lesson.steps))) if lesson and lesson.steps else None


def begin_lesson(name: str) -> None:
    """Begin a lesson; for callbacks. Raises as `find_lesson`."""
    find_lesson(name)
    if not lesson_name():
        keep_replaced()
        st.session_state[_HAD] = take_moment()
    st.session_state["lesson"] = name
    go_to(1)


def go_to(number: int) -> None:
    """Begin a step, by its number; for callbacks."""
    st.session_state["tour"] = number
    st.session_state.pop(_GUESS, None)
    open_step()
    place = current_place()
    if place is not None and place.step.shows:
        request_scroll(place.step.shows)


def open_step() -> None:
    """Open the step's page, in the state that the step begins with if it has one; for callbacks."""
    place = current_place()
    if place is None or find_problem(place.step, caches.shipped_exercises()):
        return
    if place.step.address:
        kept = {key: st.session_state[key] for key in LESSON if key in st.session_state}
        request_page(follow_link(place.step.address))
        st.session_state.update(kept)
    elif place.step.page:
        request_page(place.step.page)


def guess(option: int) -> None:
    """Take the visitor's guess, by its place in the list; for callbacks."""
    st.session_state[_GUESS] = (current_place(), option)


def leave() -> None:
    """End the lesson, if in one, and bring back what the visitor had before; for callbacks."""
    had: Moment | None = st.session_state.pop(_HAD, None)
    if lesson_name() and had is not None:
        restore(had)
    forget()


def forget() -> None:
    """Be in no lesson."""
    st.session_state.update({"tour": 0, "lesson": ""})


def find_result() -> str | None:
    """Return what came of the step, in markdown, once it is done; None before, and if there is nothing to do."""
    place = current_place()
    if place is None or not place.step.has_task:
        return None
    step, (where, option) = place.step, st.session_state.get(_GUESS, (None, 0))
    if step.guess and where != place:
        return None
    try:
        views = _open_views(step)
        is_right = _compute(step.guess[option].when if step.guess else step.done, views)
        if step.guess:
            judged = "**Right.** " if is_right else "**Not so.** "
            return judged + fill_numbers(step.conclusion, views)
        return fill_numbers(step.conclusion, views) if is_right else None
    except PlaygroundError as error:  # such as what a network that is still to be trained would say
        return escape_markdown(error) if step.guess else None


def note_drawn(result: str | None) -> None:
    """Note the result that the line is drawn with."""
    st.session_state[_DRAWN] = result


def is_outdated() -> bool:
    """Whether the line says something else by now than it was drawn with; at the end of a fragment's run."""
    return find_result() != st.session_state.get(_DRAWN)


def _compute(formula: str, views: Mapping[str, LinkedView]) -> bool:
    return bool(Formula(formula).compute(Surroundings(views)))


class SetupView(LinkedView):
    """A state, with what the session has trained."""

    @property
    def trained(self) -> TrainedNetwork | None:
        """The network that this session has trained last."""
        return own_models.session_models().trained

    @cached_property
    def share_right(self) -> float:
        """The share of the validation set that a trained network gets right with the state's changes."""
        trained = own_models.find_network(self.lab.weights)
        examples = first_sequences(validation_data(trained.recipe).validation)
        changes = [change for change in self.changes.applied if change.names_no_token]
        with services().turns.take():
            return score_changed(trained.network, examples, trained.recipe, torch.device("cpu"), changes).accuracy


def _open_views(step: LessonStep) -> Mapping[str, LinkedView]:
    """Return what formulas can name: the present state, and the one that the step began with."""
    views = {"now": _make_view({key: current_value(key) for key in PARAMS}, current_setup())}
    if step.link:
        with suppress(UnavailableError):  # a network that was trained elsewhere
            values = _read_link(step.link)
            views["start"] = _make_view(values, setup_of(values))
    return views


@lru_cache(maxsize=64)
def _read_link(link: str) -> Mapping[str, Any]:
    return open_link(link).values


def _make_view(values: Mapping[str, Any], setup: Setup) -> SetupView:
    if not setup.text.sentences:
        raise InputError("There is no text yet: type a sentence first.")
    page = page_at(st.session_state[OPEN_PAGE]).path
    return SetupView(page, setup, {**values, **setup.values})
