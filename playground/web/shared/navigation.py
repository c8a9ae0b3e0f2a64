"""Where the visitor is: the pages by name, and the lesson with its line above the heading."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import copy
from functools import cache, cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit, urlunsplit

import streamlit as st
import torch
from streamlit.navigation.page import StreamlitPage
from streamlit.runtime.scriptrunner import get_script_run_ctx

from playground.charts.names import escape_markdown
from playground.errors import InputError, PlaygroundError, UnavailableError
from playground.learn import formulas
from playground.learn.lesson import Lesson, LessonStep, find_lesson
from playground.learn.results import Task
from playground.link.opening import LinkedView, open_texts, split_link
from playground.link.params import LESSON, PARAMS
from playground.pages import PAGES, Page, page_at
from playground.training.network import score_changed
from playground.training.trained_network import TrainedNetwork
from playground.web.choices.open_page import follow_link
from playground.web.choices.setup import (
    Moment,
    current_setup,
    current_value,
    current_values,
    keep_replaced,
    restore,
    session_choices,
    take_moment,
)
from playground.web.components import announce, hide, request_scroll, step_by_keys
from playground.web.session import caches, own_models
from playground.web.session.experiments import validation_data
from playground.words import say

NEXT = "_next_page"
"""Session key of the page that a callback has asked for, by its name."""

_FOLDER = Path(__file__).resolve().parents[3] / "pages"


def page_named(name: str) -> StreamlitPage:
    """Return a copy of the page of a path, as `st.navigation` marks it; raises KeyError."""
    return copy(_find_page(name, get_script_run_ctx(suppress_warning=True) is not None))


@cache
def _find_page(name: str, _is_app_running: bool) -> StreamlitPage:
    path = {"default": True} if name == "overview" else {"url_path": name}
    file, purpose = _FOLDER / f"{name.replace('-', '_')}.py", say("frame", f"purpose-{name}")
    return st.Page(file, title=PAGES[name].title, help=purpose, **path)


def current_page() -> Page:
    """Return the open page."""
    return page_at(session_choices().page)


def request_page(name: object) -> None:
    """Have the next run go to a page, by its path, which may be anything; for callbacks."""
    if isinstance(name, str) and name in PAGES:
        st.session_state[NEXT] = name


def open_requested_page() -> None:
    """Go to the page that was asked for."""
    name = st.session_state.pop(NEXT, None)
    if name is not None and name != session_choices().page:
        st.switch_page(page_named(name), query_params={})


def pages_by_group() -> dict[str, list[StreamlitPage]]:
    """Return the pages of each fold of the menu; the first row's under the empty name."""
    groups: dict[str, list[StreamlitPage]] = {}
    for name, page in PAGES.items():
        groups.setdefault(page.group, []).append(page_named(name))
    return groups


def place_in_menu(path: str) -> int:
    """Return the place of a page, or of its fold, in the first row, from 1."""
    page = page_at(path)
    first_row = [each.title for each in PAGES.values() if not each.group]
    groups = dict.fromkeys(each.group for each in PAGES.values() if each.group)
    return [*first_row, *groups].index(page.group or page.title) + 1


def current_server() -> str:
    """Return the app's address, such as `https://host`."""
    address = urlsplit(st.context.url or "")
    return urlunsplit((address.scheme, address.netloc, address.path.rpartition("/")[0], "", ""))


_LESSON = "_lesson"
"""Session key of a mapping: the moment `before`, the last `guess` with its place, the result last `drawn`, and a `Task`
for each step that was guessed or done, by the lesson's name and the step's number."""

LINE = "lesson_line"


class Place(NamedTuple):
    """A step of a lesson, by its number from 1."""

    lesson: Lesson
    number: int

    @property
    def step(self) -> LessonStep:
        """What is shown."""
        return self.lesson.steps[self.number - 1]

    @property
    def page(self) -> str:
        """The path of the page that it opens, if any."""
        return split_link(self.step.address)[0] if self.step.address else self.step.page


def lesson_name() -> str:
    """Return the lesson's key or code; older links have a step alone."""
    return str(st.session_state.get("lesson", "")) or "pronoun" if int(st.session_state.get("tour", 0)) else ""


def current_place() -> Place | None:
    """Return the visitor's place in a lesson; raises as `find_lesson`."""
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


def find_task(number: int) -> Task:
    """Return what came of a step of the open lesson, by its number from 1, that has something to guess or to do."""
    task: Task = _memory().get((lesson_name(), number), Task(number))
    return task


def _change_task(task: Task, **changes: Any) -> None:
    if task.outcome == "open":
        _memory()[lesson_name(), task.step] = task._replace(**changes)


def leave_lesson() -> None:
    """End the lesson, and bring back what was chosen before; for callbacks."""
    before: Moment | None = _memory().pop("before", None)
    if lesson_name() and before is not None:
        restore(before)
    _forget()


def is_line_outdated() -> bool:
    """Return whether the line was drawn with another result."""
    return find_result() != _memory().get("drawn")


def find_result() -> str | None:
    """Return what came of the step, in markdown, and note that it was found; None until it is done."""
    place = current_place()
    if place is None or not place.step.has_task:
        return None
    step, (where, option) = place.step, _memory().get("guess", (None, 0))
    if step.guess and where != place:
        return None
    try:
        views = _open_views(step)
        is_right = bool(formulas.compute(step.guess[option].when if step.guess else step.done, views))
        if not is_right and not step.guess:
            return None
        if is_right:
            task = find_task(place.number)
            _change_task(task, outcome="found", tries=max(task.tries, 1))
        concluded = formulas.fill_numbers(step.conclusion, lambda formula: formulas.compute(formula, views))
        judged = say("lessons", "right") if is_right else say("lessons", "wrong")
        return f"{judged} {concluded}" if step.guess else concluded
    except PlaygroundError as error:  # such as what a network that is still to be trained would say
        return escape_markdown(error) if step.guess else None


def _memory() -> dict[Any, Any]:
    memory: dict[Any, Any] = st.session_state.setdefault(_LESSON, {})
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
        kept = current_values(LESSON)
        request_page(follow_link(place.step.address))
        st.session_state.update(kept)
    else:
        request_page(place.page)


def _guess(option: int) -> None:
    place = current_place()
    _memory()["guess"] = place, option
    if place is not None:
        task = find_task(place.number)
        _change_task(task, tries=task.tries + 1)


def _open_lessons() -> None:
    leave_lesson()
    st.session_state["exercises_key"] = ""  # which may have been the lesson's own
    request_page("lessons")


class SetupView(LinkedView):
    """The visitor's state, with what the session has trained."""

    @property
    def trained(self) -> TrainedNetwork | None:
        """The session's last network."""
        return own_models.session_models().trained

    @cached_property
    def share_right(self) -> float:
        """The share of the validation set that it gets right with the changes."""
        trained = own_models.find_network(self.lab.weights)
        examples = validation_data(trained.recipe).validation
        changes = [change for change in self.lab.fitted_changes.applied if change.names_no_token]
        return score_changed(trained.network, examples, trained.recipe, torch.device("cpu"), changes)


def _open_views(step: LessonStep) -> Mapping[str, LinkedView]:
    """Return the present state and the one that the step began with."""
    setup = current_setup()
    if not setup.text.sentences:
        raise InputError(say("lessons", "no-text"))
    values = {key: current_value(key) for key in PARAMS}
    views: dict[str, LinkedView] = {"now": SetupView(current_page().path, setup, {**values, **setup.values})}
    if step.link:
        with suppress(UnavailableError):  # a network that was trained elsewhere
            views["start"] = _read_link(step.link)
    return views


@lru_cache(maxsize=64)
def _read_link(link: str) -> LinkedView:
    return open_texts(*split_link(link), source=caches.APP)


def draw_lesson_line(draw_end: Callable[[Lesson], None]) -> None:
    """Draw the visitor's step, if in a lesson, as one element; at its last one `draw_end` comes last."""
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
            if place.number == len(place.lesson.steps):
                draw_end(place.lesson)
        step_by_keys(is_last=place.number == len(place.lesson.steps), is_presented=current_value("present"))
        if place.step.hides and result is None and is_here:
            hide(place.step.hides)


def _draw_ways(place: Place, *, is_here: bool, is_next_first: bool) -> None:
    step, number, n = place.step, place.number, len(place.lesson.steps)
    with st.container(key="lesson_buttons", horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(f"**{place.lesson.title}** · {say('lessons', 'step', number=number, n=n)}", width="content")
        _button("back", say("lessons", "back"), "arrow_back", partial(_go_to, number - 1), disabled=number == 1)
        if number < n:
            kind = "primary" if is_next_first else "secondary"
            _button("next", say("lessons", "next"), "arrow_forward", partial(_go_to, number + 1), type=kind)
        if place.page and not (is_here and (step.page or step.asked)):
            label = say("lessons", "open", page=PAGES[place.page].title)
            _button("open", say("lessons", "restore") if is_here else label, "replay", _open_step)
        _button("end", say("lessons", "end"), "close", _open_lessons, help=say("lessons", "end.help"))


def _button(name: str, label: str, icon: str, on_click: Callable[[], None], **options: Any) -> None:
    looks = {"type": "tertiary", **options}
    st.button(label, key=f"lesson_{name}", icon=f":material/{icon}:", on_click=on_click, **looks)


def _draw_words(place: Place, result: str | None) -> None:
    said = result or place.step.words
    st.markdown(said)
    if place.step.guess and result is None:
        with st.container(key="lesson_guesses", horizontal=True, gap="small"):
            for number, option in enumerate(place.step.guess):
                st.button(option.text, key=f"lesson_guess_{number}", on_click=_guess, args=(number,))
    step = say("lessons", "step", number=place.number, n=len(place.lesson.steps))
    announce("lesson_announcement", f"{place.lesson.title} · {step}. {said}", container=LINE)
