"""The editor of a lesson: pages as they are for the teacher now, words, and questions about a page's numbers."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import reduce
from typing import Any
from urllib.parse import urlencode

import streamlit as st
from pydantic import ValidationError

from playground.charts.names import escape_markdown
from playground.errors import InputError, PlaygroundError, UnavailableError
from playground.learn.answers import parse_number, write_answer
from playground.learn.exercise import Variant
from playground.learn.formulas import NUMBERS, list_numbers
from playground.learn.lesson import Lesson, LessonStep, OwnExercise, check_own, encode_lesson, write_lesson
from playground.learn.reading import first_message
from playground.link.opening import open_texts, split_link
from playground.link.params import LESSON, MAX_STEPS
from playground.link.query import VERSION, Texts
from playground.pages import PAGES
from playground.text.wording import upper_first
from playground.web.choices.open_page import current_parameters
from playground.web.choices.setup import session_choices
from playground.web.session import caches
from playground.web.shared import navigation
from playground.words import say

DRAFT = "_lesson_draft"
"""Session key of the `Lesson` that is written."""

_IS_WRONG = "_lesson_draft_is_wrong"
"""Session key: whether this run has found something that a lesson can't be sent with."""

_FIELD = "draft_field_"
"""What the keys of its fields begin with."""

_NAMES = {path: page.title for path, page in PAGES.items() if path not in ("exercises", "lessons")}
"""Of the pages that a step may open."""

_Path = tuple[str | int, ...]
"""Of a field in the draft, such as `("steps", 2, "words")`."""


def draw_editor() -> None:
    """Draw the draft's fields and steps, its file and its link."""
    st.session_state[_IS_WRONG] = False
    if DRAFT not in st.session_state:
        begin_draft()
    st.markdown(say("lessons", "editor"))
    _draw_field(st.text_input, ("title",), max_chars=80)
    _draw_field(st.text_input, ("about",), max_chars=300)
    for number, step in enumerate(_draft().steps):
        with st.container(key=f"draft_step_{number}", border=True, gap="small"):
            _draw_step(number, step)
    if len(_draft().steps) < MAX_STEPS:
        _draw_new_step()
    _draw_end()


def _refuse(reason: object) -> None:
    st.session_state[_IS_WRONG] = True
    st.error(escape_markdown(reason))


def _draft() -> Lesson:
    found: Lesson = st.session_state[DRAFT]
    return found


def begin_draft(draft: Lesson | None = None) -> None:
    """Edit a lesson, or a new one; every field shows what it holds then."""
    for key in [key for key in st.session_state if str(key).startswith(_FIELD)]:
        del st.session_state[key]
    st.session_state[DRAFT] = draft or Lesson(title=say("lessons", "new"))


# --- fields: what can't be stays in its field, with the reason, and the draft is as before


def _key(path: _Path) -> str:
    return _FIELD + "_".join(map(str, path))


def _find(values: Any, path: Iterable[str | int]) -> Any:
    return reduce(lambda found, name: found[name], path, values)


def _held(path: _Path) -> Any:
    return _find(_draft().model_dump(), path)


def _replace(path: _Path, value: Any) -> Lesson:
    """Return the draft with another value in one field; raises `InputError`."""
    values: dict[str, Any] = _draft().model_dump()
    *above, name = path
    if name == "answer" and value:
        value = repr(parse_number(value))
    _find(values, above)[name] = value
    try:
        return Lesson.model_validate(values)
    except ValidationError as error:
        raise InputError(f"{upper_first(first_message(error))}.") from error


def _draw_field(widget: Callable[..., Any], path: _Path, label: str = "", **options: Any) -> None:
    key, held = _key(path), _held(path)
    st.session_state.setdefault(key, held)
    label = label or say("lessons", f"field-{path[-1]}")
    typed = widget(label, key=key, **{"on_change": _change, "args": (path,), **options})
    if typed != held:
        try:
            _replace(path, typed)
        except InputError as error:
            _refuse(error)


def _change(path: _Path) -> None:
    with suppress(InputError, KeyError):  # a press that came first has moved the steps
        st.session_state[DRAFT] = _replace(path, st.session_state[_key(path)])


# --- steps


def _draw_step(number: int, step: LessonStep) -> None:
    n_steps = len(_draft().steps)
    link = step.own.link if step.own is not None else step.link
    page = split_link(link)[0] if link else step.page
    title = PAGES[page].title if page else step.exercise or ""
    title = say("lessons", "question", page=title) if step.own is not None else title
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f"**{number + 1}** · {title}", width="stretch")
        for name, icon, to, disabled in (
            ("up", "arrow_upward", number - 1, number == 0),
            ("down", "arrow_downward", number + 1, number == n_steps - 1),
            ("delete", "delete", None, False),
        ):
            options: dict[str, Any] = {"icon": f":material/{icon}:", "type": "tertiary", "disabled": disabled}
            label, key = say("lessons", f"step-{name}"), f"draft_{name}_{number}"
            st.button(label, key=key, on_click=_move, args=(number, to), **options)
    _draw_field(st.text_area, ("steps", number, "words"), max_chars=3_000)
    if step.own is not None:
        try:
            _draw_question(number, step.own)
        except PlaygroundError as error:
            _refuse(error)


def _move(number: int, to: int | None) -> None:
    steps = [*_draft().steps]
    step = steps.pop(number)
    if to is not None:
        steps.insert(to, step)
    begin_draft(_draft().model_copy(update={"steps": steps}))


def _draw_new_step() -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if (last := session_choices().address_written[0]) in _NAMES:  # the visitor comes from there
            st.session_state["draft_page"] = last
        page = st.selectbox(say("lessons", "page"), _NAMES, format_func=_NAMES.__getitem__, key="draft_page", width=240)
        asked = [
            st.button(say("lessons", f"add-{kind}"), key=f"draft_add_{kind}", icon=f":material/{icon}:", disabled=off)
            for kind, icon, off in (("page", "add", False), ("question", "help", page not in NUMBERS))
        ]
    st.caption(say("lessons", "present"))
    if not any(asked):
        return
    texts = {key: each for key, each in current_parameters(page).items() if key not in LESSON} | {"v": [VERSION]}
    try:
        step = {"own": _begin_question(page, texts)} if asked[1] else {"link": _write_link(page, texts)}
        begin_draft(_replace(("steps",), [*_draft().model_dump()["steps"], step]))
    except UnavailableError:
        st.error(say("lessons", "no-weights"))
    except PlaygroundError as error:
        st.error(escape_markdown(error))
    else:
        st.rerun()


# --- a question


@st.cache_resource(max_entries=32, show_spinner=False)
def _find_numbers(link: str) -> Mapping[str, tuple[str, float]]:
    return list_numbers(open_texts(*split_link(link), source=caches.APP))


def _write_link(page: str, texts: Texts) -> str:
    return f"{page}?{urlencode(texts, doseq=True)}"


def _begin_question(page: str, texts: Texts) -> dict[str, Any]:
    places = vars(open_texts(page, texts, source=caches.APP).focus)
    link = _write_link(page, {**texts, **{place: [str(at)] for place, at in places.items() if place in texts}})
    numbers = _find_numbers(link)
    if not numbers:
        raise InputError(say("lessons", "no-numbers"))
    formula, (name, _) = next(iter(numbers.items()))
    return {"link": link, "question": _ask(name), "answer": {"kind": "number", "truth": formula, "tolerance": 0.05}}


def _ask(name: str) -> str:
    return say("lessons", "what-is", number=name)


def _draw_question(at: int, own: OwnExercise) -> None:
    path: _Path = ("steps", at, "own")
    numbers = _find_numbers(own.link)
    labels = {formula: f"{name}: {write_answer(number)}" for formula, (name, number) in numbers.items()}
    labels.setdefault(own.answer.truth, own.answer.truth)
    names = {formula: name for formula, (name, _) in numbers.items()}
    choice: dict[str, Any] = {"options": list(labels), "format_func": labels.__getitem__}
    _draw_field(st.selectbox, (*path, "answer", "truth"), on_change=_choose_number, args=(path, names), **choice)
    _draw_field(st.text_area, (*path, "question"), max_chars=2_000, height=80)
    for column, name in zip(st.columns(2), ("tolerance", "within"), strict=True):
        with column:
            _draw_field(st.number_input, (*path, "answer", name), min_value=0.0, step=0.01)
    for place in range(len(own.wrong)):
        for column, name in zip(st.columns([1, 3]), ("answer", "feedback"), strict=True):
            with column:
                label = say("lessons", f"field-{name}", number=place + 1)
                _draw_field(st.text_input, (*path, "wrong", place, name), label=label)
    _draw_field(st.text_area, (*path, "explanation"), max_chars=2_000, height=80)
    _draw_field(st.toggle, (*path, "shows_chart"))
    truth: float = Variant(own.pose(), 0, caches.APP).truth
    margin = max(own.answer.tolerance * abs(truth), own.answer.within)
    st.caption(say("lessons", "truth", number=write_answer(truth), margin=write_answer(margin)))
    for sentence in () if st.session_state[_IS_WRONG] else check_own(own, caches.APP):
        _refuse(sentence)


def _choose_number(path: _Path, names: Mapping[str, str]) -> None:
    """Take another number; the question that was written for the one before follows."""
    truth, question = (*path, "answer", "truth"), (*path, "question")
    before, asked = (_held(each) for each in (truth, question))
    _change(truth)
    if asked == _ask(names.get(before, "")):
        st.session_state[_key(question)] = _ask(names.get(_held(truth), ""))
        _change(question)


# --- the end


def _draw_end() -> None:
    with st.container(key="draft_end", horizontal=True):
        save: dict[str, Any] = {"icon": ":material/download:", "on_click": "ignore", "key": "draft_save"}
        st.download_button(say("lessons", "file"), write_lesson(_draft()), "lesson.yaml", **save)
        drop: dict[str, Any] = {"icon": ":material/delete:", "on_click": begin_draft, "key": "draft_discard"}
        st.button(say("lessons", "discard"), type="tertiary", **drop)
    try:
        code = encode_lesson(_draft())
    except InputError as error:
        _refuse(error)
    if _draft().steps and not st.session_state[_IS_WRONG]:
        st.caption(say("lessons", "link"))
        link = f"{navigation.current_server()}/lessons?{urlencode({'lesson': code})}"
        st.code(link, language=None, wrap_lines=True, height=120)
        with st.container(horizontal=True, vertical_alignment="center"):
            st.link_button(say("lessons", "look"), link, type="primary", icon=":material/open_in_new:")
            results, icon = navigation.page_named("results"), ":material/bar_chart:"
            st.page_link(results, label=say("lessons", "results"), icon=icon, width="content")
