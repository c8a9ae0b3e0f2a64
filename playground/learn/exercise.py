"""What an exercise is: a question about a state of the app whose answer is computed, as data.

A file has one exercise in YAML. `read_exercise` checks it: whatever is wrong is a sentence that names the line.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from playground.errors import InputError
from playground.learn.answers import (
    COMPUTED,
    KINDS,
    PLACE,
    Answer,
    FormulaText,
    Parameter,
    Text,
    check_formula,
)
from playground.learn.reading import Key, Record, read_record
from playground.pages import PAGES
from playground.text.wording import join_words, quote_text


def _check_computed(text: str) -> str:
    for formula, _ in COMPUTED.findall(PLACE.sub("0", text)):
        check_formula(formula)
    return text


Explanation = Annotated[Text, AfterValidator(_check_computed)]
"""In which `{= formula}` is computed, with `{= formula | .2f}` in that format."""

Value = str | int | float | bool


class Mistake(Record):
    """A wrong answer that is to be expected, and what it shows."""

    name: Text
    """The misconception, in a few words."""
    when: FormulaText
    """Which answers it is: a condition in which `answer` is the student's (see the kinds of answers)."""
    feedback: Text
    """What to think about next; it does not give the answer away."""
    example: Any = None
    """An answer to variant 0 that shows it, as of `solved`."""


class Exercise(Record):
    """A question about a state."""

    key: Key
    title: Text
    topic: Text
    """What it is about, in one or two words: the map's column."""
    level: Literal[1, 2, 3]
    rests_on: list[Key] = Field(default_factory=list)
    """Exercises whose answers one should know."""
    source: Text
    """Where the matter stands: a tutorial's part, or a paper's section."""
    page: str
    """Whose charts show it, by the page's path."""
    state: dict[Parameter, Value] = Field(default_factory=dict)
    """Parameters of the link, by their keys."""
    other: dict[Parameter, Value] | None = None
    """What differs in a second state, whose quantities have `other.` before them."""
    cases: list[dict[str, str | int | float]] = Field(default_factory=list, max_length=40)
    """What a variant puts in the place of `{name}`: one of these, all of whose names belong together."""
    shown: list[str] = Field(default_factory=list)
    """Charts of the page that are seen before the answer, by their keys."""
    hidden: list[str] = Field(default_factory=list)
    """Charts that are seen after it; `answer` is the page's first sentence."""
    question: Text
    answer: Answer
    solved: Any = None
    """The right answer to variant 0, found by hand: a word or words, a number, the names of a cell's row and column or
    of a token, words in order, five heights, or parameters of a state that fulfils the condition."""
    mistakes: list[Mistake] = Field(default_factory=list, max_length=8)
    hints: list[Text] = Field(min_length=2, max_length=2)
    explanation: Explanation
    """Why."""

    @model_validator(mode="after")
    def _check(self) -> "Exercise":
        if self.page not in PAGES:
            raise ValueError(f"there is no page {quote_text(self.page)}: those are {', '.join(PAGES)}")
        names = [set(case) for case in self.cases]
        if any(each != names[0] for each in names):
            raise ValueError("all cases have the same names")
        # Braces elsewhere may be LaTeX's.
        states = [str(value) for state in (self.state, self.other or {}) for value in state.values()]
        formulas = [mistake.when for mistake in self.mistakes]
        unknown = {name for text in [*states, *formulas] for name in PLACE.findall(text)} - {
            *(names[0] if names else ())
        }
        if unknown:
            raise ValueError(f"no case has {join_words(sorted(unknown))}, which stands in braces")
        return self


def read_exercise(text: str, name: str = "this exercise") -> Exercise:
    """The exercise that a file's text describes.

    Args:
        text: YAML.
        name: what the file is called in messages.

    Raises:
        InputError: it is none; the message names the line, what is wrong there and what would work.
    """
    return read_record(Exercise, text, name, KINDS)


def check_rests(exercises: dict[str, Exercise]) -> None:
    """Raise an `InputError` where an exercise rests on one that is not there, or in the end on itself."""
    for exercise in exercises.values():
        missing = [key for key in exercise.rests_on if key not in exercises]
        if missing:
            raise InputError(f"{exercise.key} rests on {join_words(missing)}, which is no exercise.")
        below, todo = set[str](), [*exercise.rests_on]
        while todo:
            key = todo.pop()
            if key not in below:
                below.add(key)
                todo += exercises[key].rests_on
        if exercise.key in below:
            raise InputError(f"{exercise.key} rests on itself, by way of others.")


FOLDER = Path(__file__).parent / "exercises"
"""Where the shipped exercises lie."""


@cache
def shipped_exercises() -> Mapping[str, Exercise]:
    """The exercises by key, read once; raises as `read_folders`."""
    return read_folders([FOLDER])


def read_folders(folders: Iterable[Path]) -> Mapping[str, Exercise]:
    """The exercises in some folders by key; raises `InputError` where a file is none, or rests on what is not there."""
    exercises: dict[str, Exercise] = {}
    for file in (file for folder in folders for file in sorted(folder.glob("*.yaml"))):
        exercise = read_exercise(file.read_text(encoding="utf-8"), file.name)
        if exercise.key != file.stem:
            raise InputError(f"{file.name} has the exercise {exercise.key}, and would be called after it.")
        exercises[exercise.key] = exercise
    check_rests(exercises)
    return exercises
