"""Where the visitor is: the pages by name, and the lesson that leads through them, with its line above the heading."""

from collections.abc import Mapping
from contextlib import suppress
from copy import copy
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit, urlunsplit

import streamlit as st
import torch
from streamlit.navigation.page import StreamlitPage
from streamlit.runtime.scriptrunner import get_script_run_ctx

from playground.charts.names import escape_markdown
from playground.errors import InputError, PlaygroundError, UnavailableError
from playground.learn.formulas import Formula, Surroundings
from playground.learn.lesson import Lesson, LessonStep, fill_numbers, find_lesson, find_problem
from playground.link.lab import Lab
from playground.link.opening import LinkedView, open_link, split_link
from playground.link.params import LESSON, PARAMS
from playground.pages import PAGES, Page, page_at
from playground.training.answers import first_sequences, score_changed
from playground.training.trained_network import TrainedNetwork
from playground.web.choices.open_page import follow_link
from playground.web.choices.setup import (
    Moment,
    current_setup,
    current_value,
    keep_replaced,
    lab_of,
    restore,
    session_choices,
    take_moment,
)
from playground.web.components import announce, hide, request_scroll
from playground.web.session import caches, own_models
from playground.web.session.experiments import validation_data
from playground.web.session.services import services
from playground.words import say

NEXT = "_next_page"
"""Session key of the page that a callback has asked for, by its name."""

_FOLDER = Path(__file__).resolve().parents[3] / "pages"


def page_named(name: str) -> StreamlitPage:
    """Return a copy of the page of a path, as `st.navigation` notes on a page whether it runs; raises KeyError."""
    return copy(_find_page(name, get_script_run_ctx(suppress_warning=True) is not None))


@cache
def _find_page(name: str, _is_app_running: bool) -> StreamlitPage:
    """The page, which Streamlit looks for once; outside of a run it makes one without a file."""
    path = {"default": True} if name == "overview" else {"url_path": name}
    file, purpose = _FOLDER / f"{name.replace('-', '_')}.py", say("frame", f"purpose-{name}")
    return st.Page(file, title=PAGES[name].title, help=purpose, **path)


def current_page() -> Page:
    """Return the open page."""
    return page_at(session_choices().page)


def request_page(name: object) -> None:
    """Have the next run go to a page, by its path; for callbacks. What a browser sends may be anything."""
    if isinstance(name, str) and name in PAGES:
        st.session_state[NEXT] = name


def open_requested_page() -> None:
    """Go to the page that was asked for, with the session's link."""
    name = st.session_state.pop(NEXT, None)
    if name is not None and name != session_choices().page:
        st.switch_page(page_named(name), query_params={})


def pages_by_group() -> dict[str, list[StreamlitPage]]:
    """Return the pages of each fold of the menu; those of the first row under the empty name."""
    groups: dict[str, list[StreamlitPage]] = {}
    for name, page in PAGES.items():
        groups.setdefault(page.group, []).append(page_named(name))
    return groups


def place_in_menu(path: str) -> int:
    """Return the place of a page, or of its fold, in the menu's first row, from 1."""
    page = page_at(path)
    first_row = [each.title for each in PAGES.values() if not each.group]
    groups = dict.fromkeys(each.group for each in PAGES.values() if each.group)
    return [*first_row, *groups].index(page.group or page.title) + 1


def current_server() -> str:
    """Return the app's address, such as `https://host`, as the browser knows it."""
    address = urlsplit(st.context.url or "")
    return urlunsplit((address.scheme, address.netloc, address.path.rpartition("/")[0], "", ""))


_LESSON = "_lesson"
"""Session key of a mapping: the moment `before` the lesson, the last `guess` and its place, the result last `drawn`."""

_UNNAMED = "pronoun"
"""The lesson of older links that have a step alone."""

LINE = "lesson_line"
"""Key of the line's container, which stays in sight."""


class Place(NamedTuple):
    """A step of a lesson, by its number from 1."""

    lesson: Lesson
    number: int

    @property
    def step(self) -> LessonStep:
        """The step."""
        return self.lesson.steps[self.number - 1]

    @property
    def problem(self) -> str:
        """Why the step cannot be opened; empty if it can."""
        return find_problem(self.step, caches.shipped_exercises())

    @property
    def page(self) -> str:
        """The path of the page that the step opens, if it opens one."""
        if self.problem:
            return ""
        return split_link(self.step.address)[0] if self.step.address else self.step.page


def lesson_name() -> str:
    """Return the key or code of the lesson that the visitor is in, or an empty text."""
    return str(st.session_state.get("lesson", "")) or _UNNAMED if int(st.session_state.get("tour", 0)) else ""


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
        _memory()["before"] = take_moment()
    st.session_state["lesson"] = name
    _go_to(1)


def leave_lesson() -> None:
    """End the lesson, and bring back what the visitor had before; for callbacks."""
    before: Moment | None = _memory().pop("before", None)
    if lesson_name() and before is not None:
        restore(before)
    _forget()


def is_line_outdated() -> bool:
    """Return whether the lesson's line was drawn with another result than there is now."""
    return find_result() != _memory().get("drawn")


def find_result() -> str | None:
    """Return what came of the step, in markdown; None until it is done."""
    place = current_place()
    if place is None or not place.step.has_task:
        return None
    step, (where, option) = place.step, _memory().get("guess", (None, 0))
    if step.guess and where != place:
        return None
    try:
        views = _open_views(step)
        formula = step.guess[option].when if step.guess else step.done
        is_right = bool(Formula(formula).compute(Surroundings(views)))
        judged = ("**Right.** " if is_right else "**Not so.** ") if step.guess else ""
        return judged + fill_numbers(step.conclusion, views) if is_right or step.guess else None
    except PlaygroundError as error:  # such as what a network that is still to be trained would say
        return escape_markdown(error) if step.guess else None


def _memory() -> dict[str, Any]:
    memory: dict[str, Any] = st.session_state.setdefault(_LESSON, {})
    return memory


def _forget() -> None:
    st.session_state.update({"tour": 0, "lesson": ""})


def _go_to(number: int) -> None:
    st.session_state["tour"] = number
    _memory().pop("guess", None)
    _open_step()
    place = current_place()
    if place is not None and place.step.shows:
        request_scroll(place.step.shows)


def _open_step() -> None:
    place = current_place()
    if place is None or not place.page:
        return
    if place.step.address:
        kept = {key: st.session_state[key] for key in LESSON if key in st.session_state}
        request_page(follow_link(place.step.address))
        st.session_state.update(kept)
    else:
        request_page(place.page)


def _guess(option: int) -> None:
    _memory()["guess"] = current_place(), option


def _open_lessons() -> None:
    leave_lesson()
    request_page("lessons")


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
        changes = [change for change in self.lab.fitted_changes.applied if change.names_no_token]
        with services().turns.take():
            return score_changed(trained.network, examples, trained.recipe, torch.device("cpu"), changes).accuracy


def _open_views(step: LessonStep) -> Mapping[str, LinkedView]:
    """The states that formulas can name: the present one, and the one that the step began with."""
    views = {"now": _make_view({key: current_value(key) for key in PARAMS}, current_setup())}
    if step.link:
        with suppress(UnavailableError):  # a network that was trained elsewhere
            values = _read_link(step.link)
            views["start"] = _make_view(values, lab_of(values))
    return views


@lru_cache(maxsize=64)
def _read_link(link: str) -> Mapping[str, Any]:
    return open_link(link).values


def _make_view(values: Mapping[str, Any], setup: Lab) -> SetupView:
    if not setup.text.sentences:
        raise InputError("There is no text yet: type a sentence first.")
    return SetupView(current_page().path, setup, {**values, **setup.values})


def draw_lesson_line() -> None:
    """Draw the step that the visitor is at, if in a lesson, as one element."""
    with st.container():
        try:
            place = current_place()
        except InputError as error:
            st.warning(escape_markdown(error))
            _forget()
            return
        result = _memory()["drawn"] = find_result()
        if place is None:
            return
        st.session_state["tour"] = place.number  # a link may have asked for more steps than there are
        is_here = current_page().path == place.page
        with st.container(key=LINE, border=True, gap="xsmall"):
            _draw_ways(place, is_here=is_here, is_next_first=not place.step.has_task or result is not None)
            _draw_words(place, result)
        if place.step.hides and result is None and is_here:
            hide(place.step.hides)


def _draw_ways(place: Place, *, is_here: bool, is_next_first: bool) -> None:
    step, number, n = place.step, place.number, len(place.lesson.steps)
    with st.container(key="lesson_buttons", horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(f"**{place.lesson.title}** · step {number} of {n}", width="content")
        st.button(
            "Back", key="lesson_back", icon=":material/arrow_back:", type="tertiary", disabled=number == 1,
            on_click=_go_to, args=(number - 1,),
        )  # fmt: skip
        is_last = number == n
        st.button(
            "All lessons" if is_last else "Next", key="lesson_next", icon=":material/arrow_forward:",
            type="primary" if is_next_first else "secondary",
            on_click=_open_lessons if is_last else _go_to, args=() if is_last else (number + 1,),
        )  # fmt: skip
        if place.page and not (is_here and (step.page or step.exercise)):
            label = "Restore this step" if is_here else f"Open {PAGES[place.page].title}"
            st.button(label, key="lesson_open", icon=":material/replay:", type="tertiary", on_click=_open_step)
        st.button(
            "End", key="lesson_end", icon=":material/close:", type="tertiary", on_click=leave_lesson,
            help=say("frame", "lesson-end"),
        )  # fmt: skip


def _draw_words(place: Place, result: str | None) -> None:
    said = result or place.step.words
    st.markdown(said)
    if place.problem:
        st.caption(escape_markdown(place.problem))
    if place.step.guess and result is None:
        with st.container(key="lesson_guesses", horizontal=True, gap="small"):
            for number, option in enumerate(place.step.guess):
                st.button(option.text, key=f"lesson_guess_{number}", on_click=_guess, args=(number,))
    words = f"{place.lesson.title} · step {place.number}. {said} {place.problem}".replace("*", "").replace("`", "")
    announce("lesson_announcement", words, container=LINE)
