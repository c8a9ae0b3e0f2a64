"""A lesson as a tour: each step opens its state, says the teacher's words, and waits until the student goes on."""

from collections.abc import Mapping

from playground.charts.markdown import escape_markdown
from playground.errors import InputError
from playground.learn.exercise import Exercise
from playground.learn.lesson import Lesson, LessonStep
from playground.learn.tour import Step, Tour
from playground.link.opening import split_link
from playground.text.wording import quote_text


def lesson_tour(lesson: Lesson, name: str, exercises: Mapping[str, Exercise]) -> Tour:
    """The tour of a lesson.

    Args:
        lesson: which any student may have been sent.
        name: of the lesson in the link.
        exercises: that can be asked, by key.
    """
    steps = tuple(_make_step(number, step, exercises) for number, step in enumerate(lesson.steps, start=1))
    return Tour(
        name=name,
        title=lesson.title,
        question=lesson.about,
        minutes=lesson.minutes,
        page=next((step.page for step in steps if step.page is not None), "lessons"),
        steps=steps,
        exercises=tuple(step.exercise for step in lesson.steps if step.exercise in exercises and step.exercise),
    )


def _make_step(number: int, step: LessonStep, exercises: Mapping[str, Exercise]) -> Step:
    problem = find_problem(step, exercises)
    page = None if problem or not step.address else split_link(step.address)[0]
    return Step(
        name=str(number),
        sentence=lambda _: step.words,
        is_done=lambda _: False,
        page=page,
        hint=lambda _: escape_markdown(problem) or None,
        skip_label="Next",
        opens="" if page is None else step.address,
    )


def find_problem(step: LessonStep, exercises: Mapping[str, Exercise]) -> str:
    """Why a step cannot open what it is to open; empty where it can."""
    if step.exercise is not None and step.exercise not in exercises:
        return f"This step asks for the exercise {quote_text(step.exercise)}, which is not here."
    try:
        if step.address:
            split_link(step.address)
    except InputError as error:
        return str(error)
    return ""
