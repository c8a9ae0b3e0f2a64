"""The page Exercises: a list and a map of all; or one exercise, its answer, and what comes after it.

What would give an answer away (the truth, the explanation, hidden charts) is computed on the server and drawn only once
the answer is found or given up: nothing of it travels before.
"""

import json
from contextlib import suppress
from functools import partial
from typing import Any

import streamlit as st

from playground.charts.chart import Paragraph
from playground.charts.markdown import escape_markdown
from playground.errors import PlaygroundError
from playground.learn.answers import Settings
from playground.learn.checks import repairs
from playground.learn.compare_answer import compare_answer
from playground.learn.exercise import Exercise, Variant
from playground.learn.progress import (
    answer_where_to_begin,
    ask_where_to_begin,
    missing,
    next_exercise,
    next_variant,
    result_of,
    sort_exercises,
)
from playground.learn.results import MAX_ANSWER, SignedResult, now, read_private_key, sign_result
from playground.link.opening import LinkedView
from playground.link.params import FOLDS, write
from playground.link.query import write_query
from playground.pages import page_at
from playground.text.wording import join_words, quote_text
from playground.web.choices.setup import current_value
from playground.web.components.exercises import draw_exercise_map
from playground.web.components.without_picture import announce, request_scroll
from playground.web.session.caches import shipped_exercises
from playground.web.session.services import services
from playground.web.shared import panels
from playground.web.shared.attempts import (
    Attempt,
    change_attempt,
    current_attempt,
    current_results,
    keep_progress,
)
from playground.web.shared.lesson_state import lesson_name
from playground.web.shared.page_end import PageEndError
from playground.web.shared.renderer import render
from playground.web.views.exercises.answers import draw_way_back, form_of, read_given, settings_of
from playground.web.views.exercises.posed import (
    ServedVariant,
    ServedView,
    explain_variant,
    pose_variant,
    serve_view,
    take_turn,
)
from playground.web.views.exercises.state_charts import draw_state

_CHECK = "_exercise_check"
"""Session key, in the run after a press on Check, of the exercise and variant that were answered."""

_WRONG = "That is not what comes out."


def draw_exercises() -> None:
    """The whole page: one exercise where the link or a press names one, else the list."""
    for name in ("exercises_key", "exercises_variant"):
        st.session_state[name] = current_value(name)  # no widget has them; the address is written of the session
    key, number = st.session_state["exercises_key"], st.session_state["exercises_variant"]
    with panels.explain_errors():
        exercises = shipped_exercises()
    with suppress(PageEndError):  # what was found is kept all the same
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
    panels.draw_heading(ask_where_to_begin(exercises, results))
    _say_first(answer_where_to_begin(exercises, results))
    if unknown:
        st.info(f"There is no exercise {escape_markdown(quote_text(unknown))}: these are all.")
    draw_way_back()
    following = next_exercise(exercises, results)
    if following is not None:
        is_new = all(result_of(key, results).status == "new" for key in exercises)
        st.button(
            "Begin" if is_new else "Go on", key="exercise_begin", icon=":material/play_arrow:", type="primary",
            on_click=_open, args=(following.key,),
        )  # fmt: skip
    draw_exercise_map(
        "exercise_map",
        [
            {
                "key": each.key,
                "title": each.title,
                "topic": each.topic,
                "level": each.level,
                "restsOn": [key for key in each.rests_on if key in exercises],
                "status": result_of(each.key, results).status,
            }
            for each in sort_exercises(exercises)
        ],
        None if following is None else following.key,
        lambda key: _open(key) if isinstance(key, str) and key in exercises else None,
    )


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
        view = variant.view
    attempt = _check_answer(variant)
    _say_first(_describe(attempt))
    st.caption(_introduce(exercise))
    for sentence in repairs(view.page, view.notices):
        st.info(f"The exercise's settings had to change: {escape_markdown(sentence)}")
    st.header(":material/help: Question", anchor=False)
    st.markdown(variant.fill(exercise.question))
    if exercise.shown:
        with panels.explain_errors(), take_turn(exercise.page):
            draw_state(view, exercise.shown)
    if not attempt.is_over:
        with panels.explain_errors():
            if form_of(variant).needs_truth:
                with take_turn(exercise.page):
                    _ = variant.truth
            form_of(variant).draw(variant, partial(_ask_check, exercise.key, number))
        _draw_feedback(attempt)
        _draw_help(variant, attempt)
    else:
        _draw_feedback(attempt)
        with panels.explain_errors():
            _draw_truth(variant, attempt)
    _draw_ways_on(variant)


def _describe(attempt: Attempt) -> str:
    n = attempt.tries
    tries = f"{n} {'try' if n == 1 else 'tries'}"
    if attempt.outcome == "found":
        return f"You have found it, in **{tries}**. Below stands what comes out, beside your answer."
    if attempt.outcome == "given up":
        after = f" after {tries}" if n else ""
        return f"You have given up{after}. Below stands what comes out."
    return (
        "What do you expect? Answer first; then an encoder computes what comes out."
        if not n
        else f"Not yet, after {tries}."
    )


def _introduce(exercise: Exercise) -> str:
    """Level and topic of an exercise, and what it rests on that is not known yet."""
    below = [each.title for each in missing(exercise, shipped_exercises(), current_results())]
    rests = f" · It rests on {join_words([f'*{title}*' for title in below])}, which you have not done." if below else ""
    return f"Level {exercise.level} · {exercise.topic}{rests}"


def _ask_check(key: str, number: int) -> None:
    """Have the run that follows read the form: by then all choices are settled."""
    st.session_state[_CHECK] = (key, number)


def _check_answer(variant: Variant) -> Attempt:
    """What the visitor has done with a variant, after checking the answer where that was asked for just now."""
    place = variant.exercise.key, variant.number
    attempt = current_attempt(*place)
    if st.session_state.pop(_CHECK, None) != place or attempt.is_over:
        return attempt
    try:
        answer = form_of(variant).read(variant)
        with take_turn(variant.exercise.page):
            verdict = variant.check(read_given(variant, answer))
    except PlaygroundError as error:
        services().meters.count_refusal(error)
        return change_attempt(*place, complaint=escape_markdown(error), feedback="")
    return change_attempt(
        *place,
        answer=answer,
        tries=attempt.tries + 1,
        outcome="found" if verdict.is_right else "open",
        code=_sign(variant, answer, attempt.tries + 1) if verdict.is_right else "",
        feedback="" if verdict.is_right else verdict.feedback or _WRONG,
        complaint="",
    )


def _draw_feedback(attempt: Attempt) -> None:
    """What is to be said of the last answer, also to whoever cannot see the page."""
    with st.container(key="exercise_feedback"):
        if attempt.outcome == "found":
            st.success("Right.", icon=":material/check:")
        elif attempt.complaint:
            st.error(attempt.complaint)
        elif attempt.feedback and not attempt.is_over:
            st.warning(attempt.feedback, icon=":material/close:")
        sentence = "Right." if attempt.outcome == "found" else attempt.complaint or attempt.feedback
        said = f"{sentence} {_describe(attempt)}".replace("*", "").replace("`", "").strip()
        announce("exercise_announcement", said, container="exercise_feedback")


def _draw_help(variant: Variant, attempt: Attempt) -> None:
    """The hints that were asked for, and the ways to the next one and to the answer."""
    exercise, place = variant.exercise, (variant.exercise.key, variant.number)
    with st.container(key="exercise_hints"):
        for number, hint in enumerate(exercise.hints[: attempt.hints], start=1):
            st.markdown(f":material/lightbulb: **Hint {number}.** {variant.fill(hint)}")
    with st.container(horizontal=True):
        if attempt.hints < len(exercise.hints):
            label = "Show a hint" if not attempt.hints else "Show the second hint"
            st.button(
                label, key="exercise_hint", icon=":material/lightbulb:",
                on_click=_change, args=(place, {"hints": attempt.hints + 1}),
            )  # fmt: skip
        st.button(
            "Give up and show", key="exercise_give_up", icon=":material/visibility:",
            on_click=_change, args=(place, {"outcome": "given up", "complaint": ""}),
        )  # fmt: skip


def _change(place: tuple[str, int], changes: dict[str, Any]) -> None:
    change_attempt(*place, **changes)


def _draw_truth(variant: ServedVariant, attempt: Attempt) -> None:
    """The answer beside the truth, what was hidden, why it is so, and where to look at it."""
    exercise, shown_view = variant.exercise, variant.view
    st.header(":material/play_arrow: What comes out", anchor=False)
    with take_turn(exercise.page):
        given = None if attempt.answer is None else read_given(variant, attempt.answer)
        if isinstance(exercise.answer, Settings):
            shown_view = _draw_settings(variant, attempt) or shown_view
        else:
            render(list(compare_answer(variant, given)))
        with st.container(key="exercise_hidden"):
            draw_state(shown_view, exercise.hidden)
        explanation = explain_variant(exercise.key, variant.number)
    with st.container(key="exercise_explanation"):
        st.markdown(f"**Why.** {explanation}")
        st.caption(f"Source: {variant.fill(exercise.source)}")
        page = page_at(exercise.page)
        path = "" if page.path == "overview" else page.path
        st.link_button(
            f"Look at it on the page {page.title}",
            f"./{path}?{write_query(shown_view.values)}",
            icon=":material/open_in_new:",
        )
    _draw_result_code(attempt)


def _draw_settings(variant: Variant, attempt: Attempt) -> ServedView | None:
    """What was changed until the condition held, or one way to it; returns that state, None where none is known."""
    found = attempt.outcome == "found"
    answer = attempt.answer if found else variant.exercise.solved
    if answer is None:
        return None
    given = read_given(variant, answer) if found else variant.read(answer)
    if not isinstance(given, LinkedView) or not (found or _is_right(variant, given)):
        return None  # the way that is known is that of another variant
    start = variant.view.values
    changes = [
        f"- `{key}`: {write(start[key])} → **{escape_markdown(write(given.values[key]))}**"
        for key in settings_of(variant.exercise.page)
        if given.values[key] != start[key] and key not in FOLDS.values()
    ]
    said = "With your settings the condition holds:" if found else "One way to make the condition hold:"
    st.markdown("\n".join([said, "", *changes]))
    return serve_view(given)


def _is_right(variant: Variant, solved: LinkedView) -> bool:
    """Whether the way to variant 0's condition is one to this variant's; variant 0's is tested with the exercise."""
    return variant.case == Variant(variant.exercise, 0).case or variant.is_right(solved)


def _draw_ways_on(variant: Variant) -> None:
    exercise, exercises = variant.exercise, shipped_exercises()
    other = next_variant(variant)
    in_lesson = bool(lesson_name())  # whose line leads on
    following = None if in_lesson else next_exercise(exercises, current_results(), after=exercise.key)
    with st.container(key="exercise_ways", horizontal=True):
        if other is not None:
            st.button(
                "Another variant", key="exercise_variant", icon=":material/shuffle:",
                on_click=_open, args=(exercise.key, other),
            )  # fmt: skip
        if following is not None and following.key != exercise.key:
            st.button(
                f"Next: {following.title}", key="exercise_next", icon=":material/arrow_forward:",
                on_click=_open, args=(following.key,),
            )  # fmt: skip


def _draw_result_code(attempt: Attempt) -> None:
    """A signed code of the result, to copy; nothing where this server signs none."""
    if attempt.code:
        st.caption("A code of this result, signed by this server, for whoever asks for it:")
        with st.container(key="exercise_code"):
            st.code(attempt.code, language=None, wrap_lines=True)


def _sign(variant: Variant, answer: Any, tries: int) -> str:
    """The code of a right answer; empty where the server has no key."""
    key = services().settings.result_key
    if not key:
        return ""
    said = json.dumps(answer, ensure_ascii=False, default=str)[:MAX_ANSWER]
    name = variant.exercise.key
    result = SignedResult(exercise=name, variant=variant.number, answer=said, is_right=True, tries=tries, time=now())
    return sign_result(result, read_private_key(key))
