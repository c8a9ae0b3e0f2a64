"""An exercise: a question about a state of the app, whose answer is computed; and its variants.

A YAML file has one exercise. A variant is one case filled in, with its states, the truth and the check of an answer.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from playground.errors import InputError
from playground.learn.answers import (
    COMPUTED,
    PLACE,
    Answer,
    Choose,
    Click,
    FormulaText,
    Given,
    Number,
    Parameter,
    Settings,
    Text,
    check_formula,
)
from playground.learn.formulas import Formula, Surroundings
from playground.learn.reading import Key, Record, read_record
from playground.link.opening import LinkedView, open_texts
from playground.link.params import write_all
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
    """A wrong answer to expect, and what it shows."""

    name: Text
    """The misconception, in a few words."""
    when: FormulaText
    """Which answers it is: a condition on `answer`, see the kinds of answers."""
    feedback: Text
    """What to think about next, without the answer."""
    example: Any
    """An answer to variant 0 that shows it, as of `solved`."""


class Exercise(Record):
    """A question about a state."""

    key: Key
    """The file's name."""
    title: Text
    topic: Text
    level: Literal[1, 2, 3]
    rests_on: list[Key] = Field(default_factory=list)
    """Exercises whose answers one should know."""
    source: Text
    """A tutorial's part, or a paper's section."""
    page: str
    """Whose charts show it, by the page's path."""
    state: dict[Parameter, Value] = Field(default_factory=dict)
    """Parameters of the link."""
    other: dict[Parameter, Value] | None = None
    """What differs in a second state, whose quantities have `other.` before them."""
    cases: list[dict[str, str | int | float]] = Field(default=[{}], min_length=1, max_length=40)
    """What variants 0, 1 … put in the place of `{name}`."""
    shown: list[str] = Field(default_factory=list)
    """Keys of the page's charts that are seen before the answer."""
    hidden: list[str] = Field(default_factory=list)
    """Keys of charts that are seen after it; `answer` is the page's first sentence."""
    question: Text
    answer: Answer
    solved: Any
    """The right answer to variant 0, found by hand: a word or words, a number, the names of a cell's row and column or
    of a token, or parameters of a state that fulfils the condition."""
    mistakes: list[Mistake] = Field(default_factory=list, max_length=8)
    hints: list[Text] = Field(min_length=2, max_length=2)
    explanation: Explanation

    @model_validator(mode="after")
    def _check(self) -> "Exercise":
        if self.page not in PAGES:
            raise ValueError(f"there is no page {quote_text(self.page)}: those are {', '.join(PAGES)}")
        names = set(self.cases[0])
        if any(set(case) != names for case in self.cases):
            raise ValueError("all cases have the same names")
        # Braces elsewhere may be LaTeX's.
        texts = [str(value) for state in (self.state, self.other or {}) for value in state.values()]
        texts += [mistake.when for mistake in self.mistakes]
        unknown = {name for text in texts for name in PLACE.findall(text)} - names
        if unknown:
            raise ValueError(f"no case has {join_words(sorted(unknown))}, which stands in braces")
        return self


def read_exercise(text: str, name: str = "this exercise") -> Exercise:
    """Return the exercise of a YAML text; raises as `read_record`."""
    return read_record(Exercise, text, name)


FOLDER = Path(__file__).parent / "exercises"


@cache
def shipped_exercises() -> Mapping[str, Exercise]:
    """Return the shipped exercises by key."""
    return read_folders([FOLDER])


def read_folders(folders: Iterable[Path]) -> Mapping[str, Exercise]:
    """Return the exercises of some folders by key; raises as `read_exercise`."""
    files = [file for folder in folders for file in sorted(folder.glob("*.yaml"))]
    exercises = [read_exercise(file.read_text(encoding="utf-8"), file.name) for file in files]
    return {exercise.key: exercise for exercise in exercises}


MAX_VARIANT = 999
"""The largest number of a variant in a link."""


@dataclass(frozen=True)
class Verdict:
    """The result of checking an answer."""

    is_right: bool
    feedback: str = ""
    """What to think about next, in markdown; empty if the mistake is none of the expected ones."""
    mistake: Mistake | None = None


@dataclass(frozen=True)
class Variant:
    """An exercise with one of its cases filled in."""

    exercise: Exercise
    number: int
    """Of the case, modulo the number of cases."""
    serve: Callable[[LinkedView], LinkedView] = field(default=lambda view: view, compare=False)
    """Replaces the states' models by those of the app."""

    @cached_property
    def case(self) -> Mapping[str, str]:
        """What stands in the place of each `{name}`."""
        cases = self.exercise.cases
        return {name: str(value) for name, value in cases[self.number % len(cases)].items()}

    def fill(self, text: str) -> str:
        """Fill a text with this case's words."""
        return PLACE.sub(lambda found: self.case.get(found[1], found[0]), text)

    def explain(self, text: str) -> str:
        """Fill a text with this case's words and with what is computed in it.

        Raises:
            InputError: it cannot be computed or formatted; and whatever the state's run raises.
        """

        def compute(found: re.Match[str]) -> str:
            value, spec = self.compute(found[1].strip()), (found[2] or ".4g").strip()
            if not re.fullmatch(r"[+,]?(?:\.[0-9]{1,2})?[efg%]?", spec):
                raise InputError(f"{quote_text(spec)} is no format of a number: `.2f` would be one.")
            return format(value, spec) if isinstance(value, int | float) else str(value)

        return self.fill(COMPUTED.sub(compute, self.fill(text)))

    @cached_property
    def explanation(self) -> str:
        """The exercise's, computed."""
        return self.explain(self.exercise.explanation)

    @cached_property
    def view(self) -> LinkedView:
        """The state that the question is about; raises as `open_link`."""
        return self.open({})

    @cached_property
    def other(self) -> LinkedView | None:
        """The second state, if the exercise has one."""
        return None if self.exercise.other is None else self.open(self.exercise.other)

    def open(self, changed: Mapping[str, Any]) -> LinkedView:
        """Return the question's state with other values of these parameters; raises as `open_link`."""
        state = {**self.exercise.state, **changed}
        texts = {key: [self.fill(text) for text in write_all(value)] for key, value in state.items()}
        return self.serve(open_texts(self.exercise.page, texts))

    @cached_property
    def truth(self) -> Any:
        """What is right, computed; raises as `Formula.compute`."""
        return self.exercise.answer.find_truth(self)

    def read(self, answer: Any) -> Given:
        """Read an answer from a file or a form; raises `InputError`."""
        try:
            return self.exercise.answer.read(answer, self)
        except (TypeError, ValueError, OverflowError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"This is no answer to “{self.exercise.title}”: {error}.") from error

    def is_right(self, given: Given) -> bool:
        """Whether an answer is right; raises as `truth`."""
        kind: Any = self.exercise.answer
        return bool(kind.is_right(given, self))

    def check(self, given: Given) -> Verdict:
        """Tell whether an answer is right, and else which expected mistake it is; raises as `truth`."""
        if self.is_right(given):
            return Verdict(True)
        answer = self.exercise.answer
        changed = answer.find_changed(given, self) if isinstance(answer, Settings) else []  # type: ignore[arg-type]
        if changed:
            return Verdict(False, f"Leave {join_words([f'`{key}`' for key in changed])} as it was.")
        for mistake in self.exercise.mistakes:
            if self.compute(mistake.when, given):
                return Verdict(False, self.fill(mistake.feedback), mistake)
        return Verdict(False)

    def compute(self, formula: str, given: Any = None) -> Any:
        """Compute a formula with this case's words; `given` is the answer that it may name.

        Raises:
            InputError: it cannot be computed; and whatever the state's run raises.
        """
        kind: Any = self.exercise.answer
        views = {"now": given if isinstance(given, LinkedView) else self.view, "start": self.view}
        if self.other is not None:
            views["other"] = self.other
        names = {"answer": given}
        if isinstance(kind, Choose) and given and not kind.several:
            names = {"answer": given[0]}
        elif isinstance(kind, Click) and given:
            rows, *_ = self.truth.axes.values()
            names = {"row": given[0], "column": given[-1], "row_name": rows[given[0]]}
        near = {"is_near": kind.is_near} if isinstance(kind, Number) else {}
        return Formula(self.fill(formula)).compute(Surroundings(views, names, **near))
