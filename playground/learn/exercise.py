"""An exercise, a YAML file: a question about a state of the app, whose answer is computed."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from playground.charts.chart import Chart, Columns, Group, Item, Panel, Paragraph, Table
from playground.charts.scene import Scene
from playground.errors import InputError, PlaygroundError
from playground.learn import formulas
from playground.learn.answers import Answer, FormulaText, Given, Parameter, Settings, Text, check_page
from playground.learn.formulas import PLACE, check_formula, fill_numbers, list_computed
from playground.learn.reading import Key, Record, read_record
from playground.link.lab import Source
from playground.link.opening import LinkedView, open_texts, split_link
from playground.link.params import write_all
from playground.link.query import needed_panels
from playground.pages import page_at
from playground.text.wording import join_words, quote_text
from playground.views.all_views import VIEWS
from playground.words import say

Results = Mapping[str, Literal["found", "given up"]]
"""By key; others are open."""


def _check_computed(text: str) -> str:
    for formula in list_computed(PLACE.sub("0", text)):
        check_formula(formula)
    return text


Explanation = Annotated[Text, AfterValidator(_check_computed)]
"""In which `{= formula}` or `{= formula | .2f}` is computed."""

Value = str | int | float | bool


class Mistake(Record):
    """A wrong answer to expect, and what it shows."""

    name: Text
    when: FormulaText
    """A condition on the answer, see the kinds of answers."""
    feedback: Text
    example: Any
    """An answer to variant 0, as `solved`."""


class Exercise(Record):
    """A question about a state."""

    key: Key
    title: Text
    topic: Text
    level: Literal[1, 2, 3]
    source: Text
    page: Annotated[str, AfterValidator(check_page)]
    state: dict[Parameter, Value] = Field(default_factory=dict)
    link: str = ""
    """What the state begins with, as a link."""
    other: dict[Parameter, Value] | None = None
    """What differs in a second state."""
    cases: list[dict[str, str | int | float]] = Field(default=[{}], min_length=1, max_length=40)
    """What a variant puts in the place of `{name}`."""
    shown: list[str] = Field(default_factory=list)
    """Keys of charts that are seen before the answer."""
    hidden: list[str] = Field(default_factory=list)
    """Keys of charts that are seen after it, as of `find_items`."""
    question: Text
    answer: Answer
    solved: Any
    """The right answer to variant 0, found by hand: what the answer's kind reads."""
    mistakes: list[Mistake] = Field(default_factory=list, max_length=8)
    hints: list[Text] = Field(default_factory=list, max_length=2)
    explanation: Explanation

    @model_validator(mode="after")
    def _check(self) -> "Exercise":
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
    """Return the exercises of folders by key, sorted by level and topic."""
    files = [file for folder in folders for file in sorted(folder.glob("*.yaml"))]
    exercises = [read_exercise(file.read_text(encoding="utf-8"), file.name) for file in files]
    return {each.key: each for each in sorted(exercises, key=lambda each: (each.level, each.topic, each.key))}


def next_exercise(exercises: Mapping[str, Exercise], results: Results, after: str = "") -> Exercise | None:
    """Return the first open one, else one that was given up; `after` itself comes last."""
    left = [each for each in exercises.values() if results.get(each.key) != "found"]
    return min(left, key=lambda each: (each.key == after, each.key in results), default=None)


@dataclass(frozen=True)
class Variant:
    """An exercise with a case filled in. Its properties raise as `open_link` and `compute`."""

    exercise: Exercise
    number: int
    """Of the case, modulo their number."""
    source: Source | None = field(default=None, compare=False)
    """Of its models; else this machine."""

    @cached_property
    def case(self) -> Mapping[str, str]:
        """The words by name."""
        cases = self.exercise.cases
        return {name: str(value) for name, value in cases[self.number % len(cases)].items()}

    def fill(self, text: str) -> str:
        """Fill a text with this case's words."""
        return PLACE.sub(lambda found: self.case.get(found[1], found[0]), text)

    @cached_property
    def explanation(self) -> str:
        """The exercise's, with its numbers."""
        return fill_numbers(self.fill(self.exercise.explanation), self.compute)

    @cached_property
    def view(self) -> LinkedView:
        """The question's state."""
        return self.open({})

    @cached_property
    def other(self) -> LinkedView | None:
        """The second state, if there is one."""
        return None if self.exercise.other is None else self.open(self.exercise.other)

    def open(self, changed: Mapping[str, Any]) -> LinkedView:
        """Return the question's state with other values."""
        state, link = {**self.exercise.state, **changed}, self.exercise.link
        texts = {key: [self.fill(text) for text in write_all(value)] for key, value in state.items()}
        linked = split_link(link)[1] if link else {}
        return open_texts(self.exercise.page, linked | texts, source=self.source)

    @cached_property
    def truth(self) -> Any:
        """What is right, computed."""
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
        """Return whether an answer is right."""
        kind: Any = self.exercise.answer
        return bool(kind.is_right(given, self))

    def find_mistake(self, given: Given) -> Mistake | None:
        """Return the expected mistake that an answer is."""
        return next((each for each in self.exercise.mistakes if self.compute(each.when, given)), None)

    def check(self, given: Given) -> str:
        """Return what to think about next, in markdown, if the answer is wrong."""
        if self.is_right(given):
            return ""
        answer = self.exercise.answer
        kept = isinstance(answer, Settings) and isinstance(given, LinkedView) and answer.find_changed(given, self)
        if kept:
            return say("exercises", "keep", keys=join_words([f"`{key}`" for key in kept]))
        mistake = self.find_mistake(given)
        return self.fill(mistake.feedback) if mistake else say("exercises", "wrong")

    def compute(self, formula: str, given: Given | None = None) -> Any:
        """Compute a formula, which may name the answer `given`; raises as `formulas.compute`."""
        kind: Any = self.exercise.answer
        views = {"now": given if isinstance(given, LinkedView) else self.view, "start": self.view}
        if self.other is not None:
            views["other"] = self.other
        names = {} if given is None else kind.name(given, self)
        return formulas.compute(self.fill(formula), views, names)


def find_items(view: LinkedView, keys: Collection[str]) -> tuple[list[Item], Scene[Any]]:
    """Return the items of a state's page with these keys, without clicks, and the scene; `answer` is a sentence."""
    page = VIEWS.get(view.page)
    if not keys or page is None:
        return [], Scene(None)
    scene = page.scene(view)
    return list(_pick(page.show(scene, {**view.values, **needed_panels(keys)}), keys)), scene


def _pick(items: Iterable[Item], keys: Collection[str]) -> Iterator[Item]:
    for item in items:
        match item:
            case Paragraph(text, "answer") if "answer" in keys:
                yield Paragraph(text)
            case Group() | Panel():
                yield from _pick(item.items, keys)
            case Columns():
                yield from _pick([each for column in item.columns for each in column], keys)
            case Chart() if item.key in keys:
                yield replace(item, click="", on_row=None)
            case Table() if item.key in keys:
                yield replace(item, on_row=None)


def repairs(page: str, notices: Iterable[str]) -> list[str]:
    """Return the notices on what was not as asked."""
    about_page = f"The page {page} shows other networks"  # a word on the page, not on the state
    return [each for each in notices if not (page_at(page).own_networks and each.startswith(about_page))]


def check_exercise(exercise: Exercise) -> list[str]:
    """Return a sentence on each thing that does not hold in a case."""
    found: list[str] = []
    for number, case in enumerate(exercise.cases):
        try:
            found += [f"{sentence} (case {case})" for sentence in _check_variant(Variant(exercise, number))]
        except PlaygroundError as error:
            found.append(f"{error} (case {case})")
    return found


def _check_variant(variant: Variant) -> Iterator[str]:
    exercise = variant.exercise
    for view in filter(None, (variant.view, variant.other)):
        yield from repairs(view.page, view.notices)
    _ = variant.truth, variant.explanation
    if variant.number == 0:
        if not variant.is_right(variant.read(exercise.solved)):
            yield f"The answer that was found by hand, {quote_text(str(exercise.solved))}, is not right."
        for mistake in exercise.mistakes:
            given = variant.read(mistake.example)
            if variant.is_right(given) or variant.find_mistake(given) is not mistake:
                yield f"The example of the mistake “{mistake.name}” is right, or another mistake."
    asked = {*exercise.shown, *exercise.hidden}
    shown = {
        "answer" if isinstance(item, Paragraph) else getattr(item, "key", "")
        for item in find_items(variant.view, asked)[0]
    }
    if asked - shown:
        yield f"The page {exercise.page} has no {join_words([quote_text(key) for key in sorted(asked - shown)])}."
