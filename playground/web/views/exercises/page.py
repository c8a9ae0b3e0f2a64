"""The page Exercises: a list of all; or one exercise, its answer, and what comes after it.

The truth, the explanation and hidden charts stay on the server until the answer is found or given up.
"""

from contextlib import nullcontext, suppress
from functools import partial
from itertools import groupby

import streamlit as st

from playground.charts.chart import Paragraph
from playground.charts.names import escape_markdown
from playground.errors import PlaygroundError
from playground.learn.answers import Click, Settings
from playground.learn.compare_answer import compare_answer
from playground.learn.exercise import Exercise, Variant
from playground.learn.progress import missing, next_exercise, sort_exercises
from playground.link.kinds import write
from playground.link.opening import LinkedView
from playground.link.params import FOLDS
from playground.link.query import write_query
from playground.pages import page_at
from playground.text.wording import join_words, quote_text
from playground.web.choices.setup import current_value
from playground.web.components import announce, request_scroll
from playground.web.session.caches import shipped_exercises
from playground.web.shared import panels
from playground.web.shared.navigation import lesson_name
from playground.web.shared.page_end import PageEndError
from playground.web.shared.renderer import render
from playground.web.views.exercises.answers import draw_form, draw_way_back, read_form, read_given, settings_of
from playground.web.views.exercises.attempts import (
    Attempt,
    change_attempt,
    current_attempt,
    current_results,
    keep_progress,
)
from playground.web.views.exercises.posed import draw_state, pose_variant, take_turn

_CHECK = "_exercise_check"
"""Session key, in the run after a press on Check, of the exercise and variant that were answered."""

_ICONS = {"found": ":material/check:", "given up": ":material/visibility:"}
"""Of exercises in the list, by their result."""


def draw_exercises() -> None:
    """Draw the whole page: one exercise if the link or a press names one, else the list."""
    for name in ("exercises_key", "exercises_variant"):
        st.session_state[name] = current_value(name)  # no widget has them; the address is written from the session
    key, number = st.session_state["exercises_key"], st.session_state["exercises_variant"]
    with panels.explain_errors():
        exercises = shipped_exercises()
    with suppress(PageEndError):  # progress is kept all the same
        if key in exercises:
            _draw_exercise(exercises[key], number)
        else:
            _draw_list(unknown=key)
    keep_progress()


def _open(key: str, number: int = 0) -> None:
    st.session_state.update({"exercises_key": key, "exercises_variant": number})
    request_scroll("exercise_top")


def _draw_list(unknown: str) -> None:
    exercises, results = shipped_exercises(), current_results()
    following = next_exercise(exercises, results)
    n_found = sum(results.get(key) == "found" for key in exercises)
    panels.draw_heading("Where do I begin?" if not n_found else "Where do I go on?")
    _say_first(
        f"You have found **{n_found}** of {len(exercises)} answers."
        + (f" Next: **{following.title}**" if following is not None else "")
    )
    if unknown:
        st.info(f"There is no exercise {escape_markdown(quote_text(unknown))}: these are all.")
    draw_way_back()
    if following is not None:
        st.button(
            "Begin" if not n_found else "Go on", key="exercise_begin", icon=":material/play_arrow:", type="primary",
            on_click=_open, args=(following.key,),
        )  # fmt: skip
    for level, of_level in groupby(sort_exercises(exercises), lambda each: each.level):
        st.header(f"Level {level}", anchor=False)
        for topic, of_topic in groupby(of_level, lambda each: each.topic):
            name, buttons = st.columns([1, 6], vertical_alignment="center")
            name.caption(topic)
            with buttons.container(horizontal=True, gap="small"):
                for each in of_topic:
                    st.button(
                        each.title, key=f"exercise_open_{each.key}", on_click=_open, args=(each.key,),
                        icon=_ICONS.get(results.get(each.key, "")),
                    )  # fmt: skip


def _say_first(sentence: str) -> None:
    render([Paragraph(sentence, "answer")])


def _draw_exercise(exercise: Exercise, number: int) -> None:
    with st.container(key="exercise_top"):
        st.button(
            "All exercises", key="exercise_list", icon=":material/arrow_back:", type="tertiary",
            on_click=_open, args=("",),
        )  # fmt: skip
        panels.draw_heading(Variant(exercise, number).fill(exercise.title))
    with panels.explain_errors():
        variant = pose_variant(exercise.key, number)
    _check_answer(variant)
    attempt = current_attempt(exercise.key, number)
    _say_first(_describe(attempt))
    below = [f"*{each.title}*" for each in missing(exercise, shipped_exercises(), current_results())]
    rests = f" · Rests on {join_words(below)}" if below else ""
    st.caption(f"Level {exercise.level} · {exercise.topic}{rests}")
    for sentence in variant.view.notices:
        st.info(f"The exercise's settings had to change: {escape_markdown(sentence)}")
    st.header(":material/help: Question", anchor=False)
    st.markdown(variant.fill(exercise.question))
    computes = exercise.shown or isinstance(exercise.answer, Click)
    with panels.explain_errors(), take_turn(exercise.page) if computes else nullcontext():
        draw_state(variant.view, exercise.shown)
        if not attempt.is_over:
            draw_form(variant, partial(_ask_check, exercise.key, number))
    _draw_feedback(attempt)
    if not attempt.is_over:
        _draw_help(variant, attempt)
    else:
        with panels.explain_errors(), take_turn(exercise.page):
            _draw_truth(variant, attempt)
    _draw_ways_on(variant)


def _describe(attempt: Attempt) -> str:
    tries = f"{attempt.tries} {'try' if attempt.tries == 1 else 'tries'}"
    if attempt.outcome == "found":
        return f"You have found it, in **{tries}**."
    if attempt.outcome == "given up":
        return "You have given up."
    return (
        f"Not yet, after {tries}." if attempt.tries else "What do you expect? Answer first; then the app computes it."
    )


def _ask_check(key: str, number: int) -> None:
    """Have the next run read the form: by then all choices are settled."""
    st.session_state[_CHECK] = (key, number)


def _check_answer(variant: Variant) -> None:
    """Check the answer if that was asked for just now."""
    place = variant.exercise.key, variant.number
    attempt = current_attempt(*place)
    if st.session_state.pop(_CHECK, None) != place or attempt.is_over:
        return
    try:
        with take_turn(variant.exercise.page):
            answer = read_form(variant)
            verdict = variant.check(read_given(variant, answer))
    except PlaygroundError as error:
        change_attempt(*place, complaint=escape_markdown(error), feedback="")
        return
    change_attempt(
        *place,
        answer=answer,
        tries=attempt.tries + 1,
        outcome="found" if verdict.is_right else "open",
        feedback="" if verdict.is_right else verdict.feedback or "That is not what comes out.",
        complaint="",
    )


def _draw_feedback(attempt: Attempt) -> None:
    """Say what became of the last answer, also to screen readers."""
    with st.container(key="exercise_feedback"):
        said = attempt.complaint or attempt.feedback
        if attempt.outcome == "found":
            said = "Right."
            st.success(said, icon=":material/check:")
        elif attempt.complaint:
            st.error(said)
        elif said and not attempt.is_over:
            st.warning(said, icon=":material/close:")
        announced = f"{said} {_describe(attempt)}".replace("*", "").replace("`", "").strip()
        announce("exercise_announcement", announced, container="exercise_feedback")


def _draw_help(variant: Variant, attempt: Attempt) -> None:
    """Draw the hints that were asked for, and the ways to the next one and to the answer."""
    hints, place = variant.exercise.hints, (variant.exercise.key, variant.number)
    with st.container(key="exercise_hints"):
        for number, hint in enumerate(hints[: attempt.hints], start=1):
            st.markdown(f":material/lightbulb: **Hint {number}.** {variant.fill(hint)}")
    with st.container(horizontal=True):
        if attempt.hints < len(hints):
            st.button(
                f"Show hint {attempt.hints + 1}", key="exercise_hint", icon=":material/lightbulb:",
                on_click=change_attempt, args=place, kwargs={"hints": attempt.hints + 1},
            )  # fmt: skip
        st.button(
            "Give up and show", key="exercise_give_up", icon=":material/visibility:",
            on_click=change_attempt, args=place, kwargs={"outcome": "given up", "complaint": ""},
        )  # fmt: skip


def _draw_truth(variant: Variant, attempt: Attempt) -> None:
    """Draw the answer beside the truth, what was hidden, why it is so, and where to look at it."""
    exercise, shown = variant.exercise, variant.view
    st.header(":material/play_arrow: What comes out", anchor=False)
    given = None if attempt.answer is None else read_given(variant, attempt.answer)
    if not isinstance(exercise.answer, Settings):
        render(list(compare_answer(variant, given)))
    else:
        if attempt.outcome != "found":
            given = variant.read(exercise.solved)
        if isinstance(given, LinkedView) and variant.is_right(given):  # what solves variant 0 may not solve this one
            _draw_changes(variant, given)
            shown = given
    with st.container(key="exercise_hidden"):
        draw_state(shown, exercise.hidden)
    with st.container(key="exercise_explanation"):
        st.markdown(f"**Why.** {variant.explanation}")
        st.caption(f"Source: {variant.fill(exercise.source)}")
        page = page_at(exercise.page)
        path = "" if page.path == "overview" else page.path
        st.link_button(
            f"Look at it on the page {page.title}", f"./{path}?{write_query(shown.values)}",
            icon=":material/open_in_new:",
        )  # fmt: skip


def _draw_changes(variant: Variant, given: LinkedView) -> None:
    start = variant.view.values
    changes = [
        f"- `{key}`: {write(start[key])} → **{escape_markdown(write(given.values[key]))}**"
        for key in settings_of(variant.exercise.page)
        if given.values[key] != start[key] and key not in FOLDS.values()
    ]
    st.markdown("\n".join(["The condition holds with:", "", *changes]))


def _draw_ways_on(variant: Variant) -> None:
    exercise, exercises = variant.exercise, shipped_exercises()
    following = next_exercise(exercises, current_results(), after=exercise.key)
    with st.container(key="exercise_ways", horizontal=True):
        if len(exercise.cases) > 1:
            st.button(
                "Another variant", key="exercise_variant", icon=":material/shuffle:",
                on_click=_open, args=(exercise.key, (variant.number + 1) % len(exercise.cases)),
            )  # fmt: skip
        if following is not None and following.key != exercise.key and not lesson_name():  # whose line leads on
            st.button(
                f"Next: {following.title}", key="exercise_next", icon=":material/arrow_forward:",
                on_click=_open, args=(following.key,),
            )  # fmt: skip
