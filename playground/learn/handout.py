"""A lesson to hand out: on paper, in Markdown, with or without its exercises' answers; or as a notebook.

The notebook shows what its steps show, and has cells that check an answer without telling it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

import nbformat
from nbformat import v4

from playground.charts.markdown import escape_markdown
from playground.errors import PlaygroundError
from playground.learn.answers import Choose, Click, Draw, Number, Order, Settings
from playground.learn.compare_answer import axis_names, best_place, name_place
from playground.learn.exercise import Exercise, Variant
from playground.learn.lesson import Lesson, LessonStep, find_problem
from playground.learn.quantities import Numbers
from playground.link.params import write

_BLANK = "\\_" * 12
"""Where a number is written by hand."""


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
        yield ask_on_paper(variant)
        if has_answers:
            yield f"**Answer.** {describe_truth(variant)}"
            yield f"**Why.** {variant.explain(variant.exercise.explanation)}"
    except PlaygroundError as error:
        yield f"*{escape_markdown(error)}*"


def mix(words: Sequence[str], salt: str) -> list[str]:
    """The words in an order that has nothing to do with the truth, the same everywhere for the same `salt`."""
    return sorted(words, key=lambda word: sha256(f"{salt} {word}".encode()).digest())


def ask_on_paper(variant: Variant) -> str:
    """What is ticked or filled in by hand; raises as `Variant.truth` where the names of places have to be computed."""
    match variant.exercise.answer:
        case Choose(options=options, several=several):
            lines = [f"- ☐ {variant.fill(option.text)}" for option in options.values()]
            return "\n".join([*lines, "", "More than one may be right."] if several else lines)
        case Number(unit=unit):
            return f"Answer: {_BLANK} {unit}".rstrip()
        case Click():
            return f"Answer: {' → '.join(_BLANK for _ in _axes(variant))}"
        case Order(items=items, wanted=wanted):
            words = mix(list(items), variant.exercise.key)
            rows = [f"- {_BLANK[:6]} {variant.fill(items[word].text)}" for word in words]
            return "\n".join([f"Number them, the {wanted}.", "", *rows])
        case Draw(x_title=x, y_title=y, low=low, high=high):
            return f"Draw the curve: {x} from left to right, {y} from {low:g} to {high:g}."
        case Settings():
            return f"Settings that you have changed: {_BLANK}"
    raise TypeError(f"{variant.exercise.key} has an answer of no known kind")


def describe_truth(variant: Variant) -> str:
    """What is right, in words; raises as `Variant.truth`."""
    answer, truth = variant.exercise.answer, variant.truth
    match answer:
        case Choose(options=options):
            return " ".join(f"☑ {variant.fill(options[word].text)}" for word in truth)  # type: ignore[union-attr]
        case Number(unit=unit):
            return f"{truth:,.4g} {unit}".rstrip()
        case Click(wanted=wanted) if isinstance(truth, Numbers):
            best = best_place(truth, wanted)
            return f"{escape_markdown(name_place(truth, best))}, with {truth[best]:.4g}"
        case Order(items=items, wanted=wanted) if isinstance(truth, Mapping):
            words = sorted(items, key=lambda word: truth[word], reverse=wanted == "largest first")
            return "; ".join(f"{variant.fill(items[word].text)} ({truth[word]:,.4g})" for word in words)
        case Draw() if isinstance(truth, Numbers):
            return "Through " + ", ".join(f"{height:.3g}" for height in variant.heights) + " at five equal distances."
        case Settings():
            return _describe_settings(variant)
    raise TypeError(f"{variant.exercise.key} has an answer of no known kind")


def _describe_settings(variant: Variant) -> str:
    solved: Any = variant.exercise.solved
    if not isinstance(solved, Mapping) or not variant.is_right(variant.read(solved)):
        return "There are several ways."
    changes = [f"`{key}` = {write(value)}" for key, value in solved.items()]
    return f"One way: {', '.join(changes)}"


def _axes(variant: Variant) -> list[list[str]]:
    truth = variant.truth
    axes = (truth.rows, truth.columns) if isinstance(truth, Numbers) else ()
    return [axis_names(names) for names in axes if names]


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
