"""A lesson as a notebook: its words, what its steps show, and cells that check an answer without showing it."""

from collections.abc import Iterator, Mapping
from typing import Any

import nbformat
from nbformat import v4

from playground.learn.answers import Choose, Click, Draw, Number, Order, Settings
from playground.learn.exercise import Exercise
from playground.learn.handout import begin_step, mix
from playground.learn.lesson import Lesson
from playground.learn.variant import Variant


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
            cells += _ask(Variant(exercises[step.exercise], step.variant))
        elif step.link:
            cells.append(v4.new_code_cell(f"show({step.link!r})"))
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"  # the same lesson is the same file
    notebook = v4.new_notebook(cells=cells, metadata={"language_info": {"name": "python"}})
    nbformat.validate(notebook)
    return str(nbformat.writes(notebook))


def _ask(variant: Variant) -> Iterator[Any]:
    exercise = variant.exercise
    asked = f"**{variant.fill(exercise.title)}** {variant.fill(exercise.question)}"
    yield v4.new_markdown_cell(f"{asked}\n\n{_explain_form(variant)}")
    number = f", variant={variant.number}" if variant.number else ""
    yield v4.new_code_cell(f"answer = ...\ncheck_answer({exercise.key!r}, answer{number})")


def _explain_form(variant: Variant) -> str:
    """How an answer is written in Python."""
    match variant.exercise.answer:
        case Choose(options=options, several=several):
            lines = [f"- `{word!r}`: {variant.fill(option.text)}" for word, option in options.items()]
            how = "A list of these words, of which several may be right:" if several else "One of these words:"
            return "\n".join([how, "", *lines])
        case Number(unit=unit):
            return f"A number{f' ({unit})' if unit else ''}."
        case Click():
            return "The token's name or place from 0; of a cell, a list of the row's and the column's."
        case Order(items=items, wanted=wanted):
            words = mix(list(items), variant.exercise.key)
            lines = [f"- `{word!r}`: {variant.fill(items[word].text)}" for word in words]
            return "\n".join([f"A list of these words, the {wanted}:", "", *lines])
        case Draw(x_title=x, y_title=y):
            return f"A list of five heights ({y}), at equal distances along {x}."
        case Settings():
            return "A link to the state, or a dictionary of the settings that you have changed."
    raise TypeError(f"{variant.exercise.key} has an answer of no known kind")
