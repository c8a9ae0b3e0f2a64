"""The page Exercises: a list, or an exercise; its truth stays on the server until it is found or given up."""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Any, Literal

import streamlit as st
from pydantic import TypeAdapter, ValidationError

from playground.charts.chart import Paragraph
from playground.charts.names import escape_markdown
from playground.errors import InputError, PlaygroundError
from playground.learn.answers import Choose, Click, Number, Settings
from playground.learn.exercise import Exercise, Results, Variant, find_items, next_exercise
from playground.learn.lesson import find_lesson
from playground.learn.results import Outcome
from playground.link.params import FOCUS, SHARED, page_parameters
from playground.link.query import write_query
from playground.pages import page_at
from playground.text.wording import quote_text
from playground.web.choices import shortcuts
from playground.web.choices.setup import current_setup, current_value, note_focus_text
from playground.web.components import announce, keep_in_browser, request_scroll
from playground.web.session import caches
from playground.web.session.caches import shipped_exercises
from playground.web.session.own_models import session_experiments
from playground.web.shared import panels
from playground.web.shared.navigation import lesson_name, page_named
from playground.web.shared.panels import PageEndError
from playground.web.shared.renderer import render
from playground.words import say

_EXERCISES = "_exercises"
"""Session key of a mapping: attempts by exercise and variant, and the browser's `results`."""

Kind = Literal["primary", "secondary", "tertiary"]
_STORED: TypeAdapter[Results] = TypeAdapter(dict[str, Literal["found", "given up"]], config={"strict": True})
_ICONS = {"found": ":material/check:", "given up": ":material/visibility:"}


@dataclass(frozen=True)
class Attempt:
    """What a visitor has done with one variant."""

    answer: Any = None
    """The last one that was checked."""
    is_asked: bool = False
    """Whether the next run checks, when all choices are settled."""
    tries: int = 0
    hints: int = 0
    outcome: Outcome = "open"
    feedback: str = ""
    """On the last answer, in markdown."""


def _memory() -> dict[Any, Any]:
    memory: dict[Any, Any] = st.session_state.setdefault(_EXERCISES, {})
    return memory


def _attempt(variant: Variant) -> Attempt:
    found: Attempt = _memory().get((variant.exercise.key, variant.number), Attempt())
    return found


def _change(variant: Variant, **changes: Any) -> None:
    _memory()[variant.exercise.key, variant.number] = replace(_attempt(variant), **changes)


def find_attempt(key: str, number: int) -> tuple[int, Outcome]:
    """Return the tries at a variant and what came of it; 0 tries if only the browser remembers."""
    attempt: Attempt = _memory().get((key, number), Attempt())
    if attempt.tries or attempt.outcome != "open":
        return attempt.tries, attempt.outcome
    return 0, _memory().get("results", {}).get(key, "open")


# --- what was found, which the browser keeps


def _current_results() -> Results:
    results = dict(_memory().get("results", {}))
    for place, attempt in _memory().items():
        if isinstance(attempt, Attempt) and attempt.outcome != "open" and results.get(place[0]) != "found":
            results[place[0]] = attempt.outcome
    return results


def _keep_progress() -> None:
    progress, session = json.dumps(_current_results()), session_experiments().session
    is_read = "results" in _memory()
    keep_in_browser("exercise_progress", progress, session, is_read=is_read, on_read=_take_stored)


def _take_stored(text: object) -> None:
    _memory().setdefault("results", {})
    with suppress(ValidationError):  # somebody has written something else there
        _memory()["results"] = _STORED.validate_json(str(text))


# --- the page


def draw_exercises() -> None:
    """Draw the whole page: one exercise if the link or a press names one, else the list."""
    for name in ("exercises_key", "exercises_variant"):
        st.session_state[name] = current_value(name)  # no widget has them; the address is written from the session
    key, number = st.session_state["exercises_key"], st.session_state["exercises_variant"]
    with panels.explain_errors():
        exercise = find_exercise(key, lesson_name())
    with suppress(PageEndError):  # progress is kept all the same
        if exercise is not None:
            _draw_exercise(exercise, number)
        else:
            _draw_list(unknown=key)
    _keep_progress()


def _open(key: str, number: int = 0) -> None:
    st.session_state.pop(panels.ASKED, None)
    st.session_state.update({"exercises_key": key, "exercises_variant": number})
    request_scroll("exercise_top")


def _button(name: str, icon: str, on_click: Callable[[], None], kind: Kind = "secondary", **values: Any) -> None:
    label = say("exercises", f"do-{name}", **values)
    st.button(label, key=f"exercise_{name}", icon=f":material/{icon}:", type=kind, on_click=on_click)


def _draw_list(unknown: str) -> None:
    exercises, results = shipped_exercises(), _current_results()
    following = next_exercise(exercises, results)
    n_found = sum(results.get(key) == "found" for key in exercises)
    panels.draw_heading(say("exercises", "heading", n=n_found))
    told = [say("exercises", "found", n=str(n_found), all=str(len(exercises)))]
    if following is not None:
        told.append(say("exercises", "next", title=following.title))
    render([Paragraph(" ".join(told), "answer")])
    if unknown:
        st.info(say("exercises", "unknown", key=escape_markdown(quote_text(unknown))))
    if following is not None:
        _button("begin", "play_arrow", partial(_open, following.key), "primary", n=n_found)
    for level, of_level in groupby(exercises.values(), lambda each: each.level):
        shown = list(of_level)
        with st.expander(say("exercises", "level", level=level, n=len(shown))):
            for topic, of_topic in groupby(shown, lambda each: each.topic):
                name, buttons = st.columns([1, 6], vertical_alignment="center")
                name.caption(topic)
                with buttons.container(horizontal=True, gap="small"):
                    for each in of_topic:
                        result, key = _ICONS.get(results.get(each.key, "")), f"exercise_open_{each.key}"
                        st.button(each.title, key=key, on_click=_open, args=(each.key,), icon=result)


def find_exercise(key: str, lesson: str) -> Exercise | None:
    """Return a shipped exercise, or one of a lesson's own."""
    steps = find_lesson(lesson).steps if lesson else []
    own = (step.own.pose() for step in steps if step.own is not None and step.own.key == key)
    return shipped_exercises().get(key) or next(own, None)


@st.cache_resource(max_entries=8, show_spinner=False)
def pose_variant(key: str, number: int, _exercise: Exercise | None = None) -> Variant:
    """Return a variant of an exercise, by default a shipped one, with the app's models; raises as `open_link`."""
    variant = Variant(_exercise or shipped_exercises()[key], number, caches.APP)
    _ = variant.view
    return variant


def _draw_exercise(exercise: Exercise, number: int) -> None:
    with st.container(key="exercise_top"):
        if exercise.key in shipped_exercises():
            _button("list", "arrow_back", partial(_open, ""), "tertiary")
        panels.draw_heading(Variant(exercise, number).fill(exercise.title))
    with panels.explain_errors():
        variant = pose_variant(exercise.key, number, exercise)
    _check_answer(variant)
    attempt = _attempt(variant)
    is_over = attempt.outcome != "open"
    known = find_attempt(exercise.key, number)[1]  # also in an earlier session, as the browser says
    told = _describe(attempt) if known == attempt.outcome else say("exercises", "earlier", outcome=known)
    render([Paragraph(told, "answer")])
    st.header(f":material/help: {say('exercises', 'question')}", anchor=False)
    st.markdown(variant.fill(exercise.question))
    with panels.explain_errors(), st.spinner(say("exercises", "computing")):
        render(*find_items(variant.view, exercise.shown))
        if not is_over:
            _draw_form(variant)
    _draw_feedback(attempt)
    if not is_over:
        _draw_help(variant, attempt)
    else:
        with panels.explain_errors(), st.spinner(say("exercises", "computing")):
            _draw_truth(variant, attempt)
    _draw_ways_on(variant)


def _describe(attempt: Attempt) -> str:
    if attempt.outcome == "open" and not attempt.tries:
        return say("exercises", "first")
    return say("exercises", f"is-{attempt.outcome.replace(' ', '-')}", n=attempt.tries)


# --- the form of each kind of answer, and how it is read


def _key(variant: Variant, part: str = "") -> str:
    return f"answer_{variant.exercise.key}_{variant.number}_{part}".rstrip("_")


def _draw_form(variant: Variant) -> None:
    answer, check = variant.exercise.answer, partial(_change, variant, is_asked=True)
    if isinstance(answer, Settings):
        page = page_named(variant.exercise.page)
        with st.container(key="exercise_form", border=True):
            st.markdown(say("exercises", "settings", page=page.title))
            with st.container(horizontal=True, vertical_alignment="center"):
                _button("start", "tune", partial(_use_settings, variant))
                _button("check", "check", check, "primary")
                label = say("exercises", "open", page=page.title)
                st.page_link(page, label=label, icon=":material/arrow_forward:", width="content")
        return
    with st.form("exercise_form"):
        match answer:
            case Choose(options=options, several=True):
                st.markdown(say("exercises", "several"))
                for word, option in options.items():
                    st.checkbox(variant.fill(option.text), key=_key(variant, word))
            case Choose(options=options):
                texts = {word: variant.fill(option.text) for word, option in options.items()}
                label, name = say("exercises", "choose"), texts.__getitem__
                st.radio(label, list(texts), index=None, format_func=name, key=_key(variant))
            case Number(unit=unit):
                label = say("exercises", "number-in", unit=unit) if unit else say("exercises", "number")
                example = say("exercises", "example")
                st.text_input(label, key=_key(variant), max_chars=40, placeholder=example, width=320)
            case Click():
                for title, labels in zip(variant.truth.axes, variant.truth.labels, strict=True):
                    st.pills(title, range(len(labels)), format_func=labels.__getitem__, key=_key(variant, title))
        st.form_submit_button(say("exercises", "do-check"), key="exercise_check", type="primary", on_click=check)


def _read_form(variant: Variant) -> Any:
    """Return the answer for `Variant.read`; raises `InputError` if there is none."""
    held, answer = st.session_state, list[Any]()
    match variant.exercise.answer:
        case Choose(options=options, several=True):
            answer = [word for word in options if held.get(_key(variant, word))]
        case Number():
            return str(held.get(_key(variant)) or "")
        case Click():
            answer = [held.get(_key(variant, title)) for title in variant.truth.axes]
        case Settings():
            values = dict(current_setup().values)
            if values["weights"] not in ("minilm", "random"):
                raise InputError(say("exercises", "weights"))
            return {key: current_value(key) for key in _settings_of(variant)} | values
        case _:
            answer = [held.get(_key(variant))]
    if not answer or None in answer:
        raise InputError(say("exercises", "none"))
    return answer


def _settings_of(variant: Variant) -> list[str]:
    """Return the parameters that an exercise may ask to be changed."""
    return [*SHARED, *FOCUS, *page_parameters(variant.exercise.page)]


def _use_settings(variant: Variant) -> None:
    st.session_state[panels.ASKED] = (variant.exercise.page, variant.fill(variant.exercise.question))
    shortcuts.choose_values({key: variant.view.values[key] for key in _settings_of(variant)})
    note_focus_text(by_page=not variant.view.names_tokens)


# --- what follows an answer


def _check_answer(variant: Variant) -> None:
    attempt = _attempt(variant)
    if not attempt.is_asked or attempt.outcome != "open":
        return
    try:
        with st.spinner(say("exercises", "computing")):
            answer = _read_form(variant)
            feedback = variant.check(variant.read(answer))
        outcome, tries = "open" if feedback else "found", attempt.tries + 1
        _change(variant, is_asked=False, answer=answer, tries=tries, outcome=outcome, feedback=feedback)
    except PlaygroundError as error:
        _change(variant, is_asked=False, feedback=escape_markdown(error))


def _draw_feedback(attempt: Attempt) -> None:
    with st.container(key="exercise_feedback"):
        said = attempt.feedback
        if attempt.outcome == "found":
            said = say("exercises", "right")
            st.success(said, icon=":material/check:")
        elif said and attempt.outcome == "open":
            st.warning(said, icon=":material/close:")
        announce("exercise_announcement", f"{said} {_describe(attempt)}".strip(), container="exercise_feedback")


def _draw_help(variant: Variant, attempt: Attempt) -> None:
    shown, hints = attempt.hints, variant.exercise.hints
    with st.container(key="exercise_hints"):
        for number, hint in enumerate(hints[:shown], start=1):
            st.markdown(f":material/lightbulb: **{say('exercises', 'hint', number=number)}** {variant.fill(hint)}")
    with st.container(horizontal=True):
        if shown < len(hints):
            _button("hint", "lightbulb", partial(_change, variant, hints=shown + 1), number=shown + 1)
        _button("give_up", "visibility", partial(_change, variant, outcome="given up"))


def _draw_truth(variant: Variant, attempt: Attempt) -> None:
    exercise, shown = variant.exercise, variant.view
    st.header(f":material/play_arrow: {say('exercises', 'result')}", anchor=False)
    given: Any = None if attempt.answer is None else variant.read(attempt.answer)
    if isinstance(exercise.answer, Settings):
        given = given if attempt.outcome == "found" else variant.read(exercise.solved)
        given = given if variant.is_right(given) else None  # what solves variant 0 may not solve this one
        shown = given or shown
    render([exercise.answer.compare(given, variant)])
    with st.container(key="exercise_hidden"):
        render(*find_items(shown, exercise.hidden))
    with st.container(key="exercise_explanation"):
        st.markdown(say("exercises", "why", why=variant.explanation))
        st.caption(say("exercises", "source", source=variant.fill(exercise.source)))
        page = page_at(exercise.page)
        link = f"./{'' if page.path == 'overview' else page.path}?{write_query(shown.values)}"
        st.link_button(say("exercises", "look", page=page.title), link, icon=":material/open_in_new:")


def _draw_ways_on(variant: Variant) -> None:
    exercise, exercises = variant.exercise, shipped_exercises()
    following = next_exercise(exercises, _current_results(), after=exercise.key)
    with st.container(key="exercise_ways", horizontal=True):
        if len(exercise.cases) > 1:
            _button("variant", "shuffle", partial(_open, exercise.key, (variant.number + 1) % len(exercise.cases)))
        if following is not None and following.key != exercise.key and not lesson_name():  # whose line leads on
            _button("next", "arrow_forward", partial(_open, following.key), title=following.title)
