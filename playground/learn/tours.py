"""The tours: the experiments, in the order of the cards on the front page, and any lesson as a tour.

To add an experiment: a module with a `Tour`, and its entry here. Its name is one of
`playground.link.params.EXPERIMENTS`.
"""

from collections.abc import Mapping

from playground.charts.markdown import escape_markdown
from playground.learn.exercise import Exercise
from playground.learn.lesson import Lesson, LessonStep, find_problem
from playground.learn.negation_tour import NEGATION
from playground.learn.parts_tour import PARTS
from playground.learn.pronoun_tour import PRONOUN
from playground.learn.reverse_tour import REVERSE
from playground.learn.tour import Step, Tour
from playground.link.opening import split_link

TOURS: dict[str, Tour] = {tour.name: tour for tour in (PARTS, PRONOUN, NEGATION, REVERSE)}
"""By name."""


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
