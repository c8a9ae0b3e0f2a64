"""What an exercise is: a question about a state of the app whose answer is computed, as data; and its variants.

A file has one exercise in YAML. `read_exercise` checks it: whatever is wrong is a sentence that names the line. A
variant is a case filled in, with its states, the computed truth, and the check of an answer.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from playground.errors import InputError
from playground.learn.answers import (
    ANSWER_KINDS,
    COMPUTED,
    PLACE,
    Answer,
    Draw,
    FormulaText,
    Given,
    Number,
    Parameter,
    Settings,
    Text,
    Truth,
    check_formula,
    is_close,
)
from playground.learn.formulas import Formula, Surroundings
from playground.learn.reading import Key, Record, read_record
from playground.link.opening import LinkedView, open_texts
from playground.link.params import write_all
from playground.pages import PAGES
from playground.runs.arrays import Array
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

    @property
    def n_different_cases(self) -> int:
        """How many cases are there, equal ones counted once."""
        return len({tuple(case.items()) for case in self.cases})

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
    return read_record(Exercise, text, name, ANSWER_KINDS)


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


MAX_VARIANT = 999
"""The largest number of a variant in a link."""


def _draw(name: str, n: int) -> int:
    """A number below n, the same for the same name everywhere."""
    return int.from_bytes(sha256(name.encode()).digest()[:8]) % n


@dataclass(frozen=True)
class Verdict:
    """What a check of an answer says."""

    is_right: bool
    feedback: str = ""
    """What to think about next, in markdown; empty where the mistake is none of the expected ones."""
    mistake: Mistake | None = None


@dataclass(frozen=True)
class Variant:
    """An exercise with one of its cases filled in; equal numbers give equal variants everywhere."""

    exercise: Exercise
    number: int
    """From 0; variant 0 has the first case."""

    @cached_property
    def case(self) -> Mapping[str, str]:
        """What stands in the place of each `{name}`."""
        cases = self.exercise.cases
        if not cases:
            return {}
        chosen = cases[_draw(f"{self.exercise.key} {self.number}", len(cases)) if self.number else 0]
        return {name: str(value) for name, value in chosen.items()}

    def fill(self, text: str) -> str:
        """A text with this case's words."""
        return PLACE.sub(lambda found: self.case.get(found[1], found[0]), text)

    def explain(self, text: str) -> str:
        """A text with this case's words and with what is computed in it; it may give the answer away.

        Raises:
            InputError: what it asks for cannot be computed, or not be written so; and whatever the state's run raises.
        """

        def compute(found: re.Match[str]) -> str:
            value = self.compute(found[1].strip())
            written = (found[2] or ".4g").strip()
            if not re.fullmatch(r"[+,]?(?:\.[0-9]{1,2})?[defg%]?", written):
                raise InputError(f"{quote_text(written)} is no format of a number: `.2f` would be one.")
            try:
                return format(value, written) if isinstance(value, int | float) else str(value)
            except ValueError as error:  # whole numbers alone are written with d
                raise InputError(f"`{written}` does not fit the number {value}: `.2f` would.") from error

        return self.fill(COMPUTED.sub(compute, self.fill(text)))

    @cached_property
    def view(self) -> LinkedView:
        """The state that the question is about; raises as `open_link`."""
        return self.open({})

    @cached_property
    def other(self) -> LinkedView | None:
        """The second state; None where the exercise has none."""
        return None if self.exercise.other is None else self.open(self.exercise.other)

    def open(self, changed: Mapping[str, Any]) -> LinkedView:
        """The question's state with other values of these parameters; raises as `open_link`."""
        state = {**self.exercise.state, **changed}
        texts = {key: [self.fill(text) for text in write_all(value)] for key, value in state.items()}
        return open_texts(self.exercise.page, texts)

    @cached_property
    def truth(self) -> Truth:
        """What is right, computed; raises as `Formula.compute`."""
        return self.exercise.answer.find_truth(self)

    @property
    def heights(self) -> Array:
        """The true heights at the handles of a curve that is to be drawn: (5,)."""
        if not isinstance(self.exercise.answer, Draw):
            raise TypeError(f"{self.exercise.key} asks for no curve")
        return self.exercise.answer.heights(self)

    def read(self, answer: Any) -> Given:
        """An answer as a file or a form has it, as this exercise's kind of answer; raises `InputError`."""
        try:
            return self.exercise.answer.read(answer, self)
        except InputError:
            raise
        except (TypeError, ValueError, OverflowError) as error:
            raise InputError(f"This is no answer to “{self.exercise.title}”: {error}.") from error

    def is_right(self, given: Given) -> bool:
        """Whether an answer is right; raises as `truth`."""
        kind: Any = self.exercise.answer
        return bool(kind.is_right(given, self))

    def check(self, given: Given) -> Verdict:
        """Whether an answer is right, and else which expected mistake it is; raises as `is_right`."""
        if self.is_right(given):
            return Verdict(True)
        answer = self.exercise.answer
        if isinstance(answer, Settings) and isinstance(given, LinkedView):
            changed = answer.changed(given, self)
            if changed:
                return Verdict(False, f"Leave {join_words([f'`{key}`' for key in changed])} as it was.")
        for mistake in self.exercise.mistakes:
            if self.compute(mistake.when, given):
                return Verdict(False, self.fill(mistake.feedback), mistake)
        return Verdict(False)

    def compute(self, formula: str, given: Any = None) -> Any:
        """What a formula comes to, with this case's words; `given` is the answer that it may name.

        Raises:
            InputError: it cannot be computed; and whatever the state's run raises.
        """
        kind: Any = self.exercise.answer
        views = {"now": given if isinstance(given, LinkedView) else self.view, "start": self.view}
        if self.other is not None:
            views["other"] = self.other
        names = {} if given is None else kind.names(given, self)
        is_near = kind.is_near if isinstance(kind, Number) else is_close
        return Formula(self.fill(formula)).compute(Surroundings(views, names, is_near))


def variants_of(exercise: Exercise) -> Iterator[Variant]:
    """One variant for each case, variant 0 first."""
    seen: list[Mapping[str, str]] = []
    wanted = max(1, exercise.n_different_cases)
    for number in range(MAX_VARIANT + 1):
        variant = Variant(exercise, number)
        if variant.case not in seen:
            seen.append(variant.case)
            yield variant
        if len(seen) == wanted:
            return
