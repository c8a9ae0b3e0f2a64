"""What an exercise is: a question about a state of the app whose answer is computed, as data.

A file has one exercise in YAML. `read_exercise` checks it: whatever is wrong is a sentence that names the line.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from playground.errors import InputError
from playground.learn.formulas import Formula
from playground.link.params import PARAMS
from playground.pages import PAGES
from playground.text.wording import join_words, quote_text

MAX_FILE = 100_000
"""Characters."""

HANDLES = 5
"""Points of a curve that are drawn by hand."""

_PLACE = re.compile(r"\{([a-z_]+)\}")

Key = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=40)]
Text = Annotated[str, Field(min_length=1, max_length=2_000)]
"""Markdown without HTML, in which `{name}` stands for what the variant puts there."""


def _read_formula(text: str) -> str:
    Formula(_PLACE.sub("0", text)).check(("other", "start"), _VARIABLES)
    return text


FormulaText = Annotated[str, AfterValidator(_read_formula)]
"""As of `playground.learn.formulas`; `{name}` in it as in a text."""

_VARIABLES = ("answer", "row", "column", "row_name", "column_name", "value", "first", "last")


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Mistake(_Record):
    """A wrong answer that is to be expected, and what it shows."""

    name: Text
    """The misconception, in a few words."""
    when: FormulaText
    """Which answers it is: a condition in which `answer` is the student's (see the kinds of answers)."""
    feedback: Text
    """What to think about next; it does not give the answer away."""
    example: Any = None
    """An answer to variant 0 that shows it, as of `solved`."""


class Option(_Record):
    """One of several possible answers."""

    text: Text
    when: FormulaText
    """The condition under which it is right."""


class Item(_Record):
    """One of the things to put in order."""

    text: Text
    value: FormulaText


class Choose(_Record):
    """Choose one or several; in a mistake's condition, `answer` is the option's word, or `'word' in answer`."""

    kind: Literal["choose"]
    options: dict[Key, Option] = Field(min_length=2, max_length=8)
    several: bool = False


class Number(_Record):
    """Give a number; in a mistake's condition, `near(answer, …)` knows the tolerance."""

    kind: Literal["number"]
    truth: FormulaText
    tolerance: float = Field(0.02, ge=0, le=1)
    """Share of the truth by which an answer may differ."""
    within: float = Field(0.0, ge=0)
    """How far it may differ besides, in the number's own unit."""
    unit: str = Field("", max_length=40)


class Click(_Record):
    """Click a cell, a head or a token: of all, the largest or smallest.

    In a mistake's condition, `row` and `column` count from 0, `row_name` and `column_name` are their names, `value` is
    the number there.
    """

    kind: Literal["click"]
    of: FormulaText
    """`Numbers` along one or two axes."""
    wanted: Literal["largest", "smallest"] = "largest"


class Order(_Record):
    """Put things in order; in a mistake's condition, `first` and `last` are words of `items`."""

    kind: Literal["order"]
    items: dict[Key, Item] = Field(min_length=3, max_length=7)
    wanted: Literal["largest first", "smallest first"] = "largest first"


class Draw(_Record):
    """Draw a curve by five handles; in a mistake's condition, `answer[0]` … `answer[4]` are their heights."""

    kind: Literal["draw"]
    of: FormulaText
    """`Numbers` along one axis; the handles stand at equal distances from its first place to its last."""
    tolerance: float = Field(0.15, gt=0, le=1)
    """How far a handle may lie off, as a share of `high` − `low`."""
    low: float
    high: float
    """What the axis of the numbers reaches from and to."""
    x_title: Text
    y_title: Text


class Settings(_Record):
    """Change the settings until a condition holds; there, `start.` stands before quantities of the first state."""

    kind: Literal["settings"]
    until: FormulaText
    keep: list[str] = Field(default_factory=list)
    """Parameters of the link that have to stay as they are."""


Answer: TypeAlias = Annotated[Choose | Number | Click | Order | Draw | Settings, Field(discriminator="kind")]


class Exercise(_Record):
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
    state: dict[str, str | int | float | bool] = Field(default_factory=dict)
    """Parameters of the link, by their keys."""
    other: dict[str, str | int | float | bool] | None = None
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
    explanation: Text
    """Why; `{= formula}` in it is computed, with `{= formula | .2f}` in that format."""

    @model_validator(mode="after")
    def _check(self) -> "Exercise":
        if self.page not in PAGES:
            raise ValueError(f"there is no page {quote_text(self.page)}: those are {', '.join(PAGES)}")
        unknown = sorted({*self.state, *(self.other or {})} - PARAMS.keys())
        if unknown:
            raise ValueError(f"there is no parameter {join_words([quote_text(each) for each in unknown])} of a link")
        names = [set(case) for case in self.cases]
        if any(each != names[0] for each in names):
            raise ValueError("all cases have the same names")
        return self


def read_exercise(text: str, name: str = "this exercise") -> Exercise:
    """The exercise that a file's text describes.

    Args:
        text: YAML.
        name: what the file is called in messages.

    Raises:
        InputError: it is none; the message names the line, what is wrong there and what would work.
    """
    node = _parse(text, name)
    try:
        return Exercise.model_validate(yaml.safe_load(text))
    except ValidationError as error:
        raise InputError(_describe(error, node, name)) from error


def _parse(text: str, name: str) -> yaml.Node:
    if len(text) > MAX_FILE:
        raise InputError(f"{name} has {len(text):,} characters; at most {MAX_FILE:,} are read.")
    try:
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, yaml.SafeLoader)):
            raise InputError(f"{name} uses an alias (`*name`), which exercises do without: write it out.")
        node = yaml.compose(text, yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark is not None else ""
        problem = getattr(error, "problem", None) or "it can't be read"
        raise InputError(f"{name}{line}: this is no YAML: {problem}.") from error
    if not isinstance(node, yaml.MappingNode):
        raise InputError(f"{name}: an exercise is a list of `name: value`, and this is something else.")
    return node


def _describe(error: ValidationError, node: yaml.Node, name: str) -> str:
    """One sentence on the first thing that is wrong, and how many others are."""
    errors = error.errors(include_url=False)
    first = errors[0]
    place = [part for part in first["loc"] if not (isinstance(part, str) and part in _KINDS)]
    line, what = _find_line(node, place), ".".join(map(str, place))
    message = first["msg"].removeprefix("Value error, ").rstrip(".")
    more = f" {len(errors) - 1} more would have to be mended." if len(errors) > 1 else ""
    return f"{name}, line {line}: {f'`{what}`: ' if what else ''}{message}.{more}"


_KINDS = ("choose", "number", "click", "order", "draw", "settings")


def _find_line(node: yaml.Node, place: Sequence[Any]) -> int:
    """The line, from 1, where the deepest part of a place that the file has begins."""
    line = int(node.start_mark.line) + 1
    for part in place:
        children: Mapping[Any, tuple[yaml.Node, yaml.Node]] = {}
        if isinstance(node, yaml.MappingNode):
            children = {key.value: (key, value) for key, value in node.value}
        elif isinstance(node, yaml.SequenceNode):
            children = {i: (value, value) for i, value in enumerate(node.value)}
        if part not in children:
            break
        key, node = children[part]
        line = int(key.start_mark.line) + 1
    return line
