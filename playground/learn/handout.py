"""A lesson to hand out: on paper, in Markdown, with or without its exercises' answers; or as a notebook.

The notebook shows what its steps show, and has cells that check an answer without telling it.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import nbformat
from nbformat import v4

from playground.charts.markdown import escape_markdown
from playground.errors import PlaygroundError
from playground.learn.answers import Choose, Click, Number
from playground.learn.exercise import Exercise, Variant
from playground.learn.lesson import Lesson, LessonStep, find_problem

Pose = Callable[[Exercise, int], Variant]


def write_handout(
    lesson: Lesson, exercises: Mapping[str, Exercise], server: str, *, has_answers: bool, pose: Pose = Variant
) -> str:
    """The handout of a lesson.

    Args:
        lesson: which it is of.
        exercises: that can be asked, by key.
        server: where links lead, such as `https://host`.
        has_answers: whether what the exercises ask is computed and told.
        pose: makes the variant of an exercise with a number.
    """
    parts = [f"# {lesson.title}", *([lesson.about] if lesson.about else [])]
    for number, step in enumerate(lesson.steps, start=1):
        parts.append(f"## Step {number}")
        parts += begin_step(step, exercises, server)
        if step.exercise is not None and step.exercise in exercises:
            parts += _ask(pose(exercises[step.exercise], step.variant), has_answers=has_answers)
    return "\n\n".join(parts) + "\n"


def begin_step(step: LessonStep, exercises: Mapping[str, Exercise], server: str) -> Iterator[str]:
    """A step's words, and where it leads, or why it cannot."""
    if step.words:
        yield step.words.strip()
    problem = find_problem(step, exercises)
    if problem:
        yield f"*{escape_markdown(problem)}*"
    elif step.address:
        yield f"Open: <{server}/{step.address.replace(' ', '+')}>"


def _ask(variant: Variant, *, has_answers: bool) -> Iterator[str]:
    try:
        yield f"### {variant.fill(variant.exercise.title)}"
        yield variant.fill(variant.exercise.question)
        yield _ask_on_paper(variant)
        if has_answers:
            yield f"**Answer.** {describe_truth(variant)}"
            yield f"**Why.** {variant.explanation}"
    except PlaygroundError as error:
        yield f"*{escape_markdown(error)}*"


def _ask_on_paper(variant: Variant) -> str:
    match variant.exercise.answer:
        case Choose(options=options):
            return "\n".join(f"- ☐ {variant.fill(option.text)} (`{word}`)" for word, option in options.items())
        case Number(unit=unit):
            return f"Answer, a number: \\_\\_\\_\\_\\_\\_ {unit}".rstrip()
    return "Answer: \\_\\_\\_\\_\\_\\_"


def describe_truth(variant: Variant) -> str:
    """Return what is right, in words."""
    match variant.exercise.answer:
        case Choose(options=options):
            return " ".join(f"☑ {variant.fill(options[word].text)}" for word in variant.truth)
        case Number(unit=unit):
            return f"{variant.truth:,.4g} {unit}".rstrip()
        case Click():
            return escape_markdown(variant.truth.name(variant.truth.best))
    return ", ".join(f"`{key}` = {value}" for key, value in variant.exercise.solved.items())


def write_notebook(lesson: Lesson, exercises: Mapping[str, Exercise], server: str) -> str:
    """The notebook's file, which asks the playground's package; nothing is computed for it.

    Args:
        lesson: which it is of.
        exercises: that can be asked, by key.
        server: where links lead, such as `https://host`.
    """
    about = f"\n\n{lesson.about}" if lesson.about else ""
    cells = [
        v4.new_markdown_cell(f"# {lesson.title}{about}\n\nThis notebook needs the playground's package."),
        v4.new_code_cell("from playground import check_answer, show"),
    ]
    for number, step in enumerate(lesson.steps, start=1):
        parts = [f"## Step {number}", *begin_step(step, exercises, server)]
        cells.append(v4.new_markdown_cell("\n\n".join(parts)))
        if step.exercise is not None and step.exercise in exercises:
            cells += _ask_in_cells(Variant(exercises[step.exercise], step.variant))
        elif step.link:
            cells.append(v4.new_code_cell(f"show({step.link!r})"))
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"  # the same lesson is the same file
    notebook = v4.new_notebook(cells=cells, metadata={"language_info": {"name": "python"}})
    nbformat.validate(notebook)
    return str(nbformat.writes(notebook))


def _ask_in_cells(variant: Variant) -> Iterator[Any]:
    exercise = variant.exercise
    asked = f"**{variant.fill(exercise.title)}** {variant.fill(exercise.question)}"
    yield v4.new_markdown_cell(f"{asked}\n\n{_ask_on_paper(variant)}")
    number = f", variant={variant.number}" if variant.number else ""
    yield v4.new_code_cell(f"answer = ...\ncheck_answer({exercise.key!r}, answer{number})")
