"""The kinds of answers to exercises: how each is asked for, what is right, and how one that was given is read.

To add a kind: a record here, its names in `Answer` and `ANSWER_KINDS`, what is drawn of a given answer beside the truth
in `playground/learn/compare_answer.py`, and its form in `playground/web/views/exercises/answers.py`.
"""

import math
import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from itertools import pairwise
from typing import Annotated, Any, Literal, Protocol, TypeAlias

import numpy as np
from pydantic import AfterValidator, Field

from playground.charts.markdown import escape_markdown
from playground.errors import InputError
from playground.learn.formulas import Formula
from playground.learn.quantities import Numbers
from playground.learn.reading import Key, Record
from playground.link.opening import LinkedView
from playground.link.params import PARAMS, write
from playground.runs.arrays import Array
from playground.text.wording import join_words, quote_text

HANDLES = 5
"""Points of a curve that are drawn by hand."""

PLACE = re.compile(r"\{([a-z_]+)\}")
"""A name in braces, for which a case has a word."""

COMPUTED = re.compile(r"\{=([^{}|]+)(?:\|([^{}|]+))?\}")
"""A formula in a text, and the format of its number, each perhaps with blanks around it."""

_CLOSE = 1e-6
"""By how much, as a share, two numbers differ that count as equal."""

_VARIABLES = ("answer", "row", "column", "row_name", "column_name", "value", "first", "last")

_BLANK = "\\_" * 12
"""Where an answer is written by hand."""

_HTML = re.compile(r"<[A-Za-z/!?]")

Given: TypeAlias = tuple[str, ...] | float | tuple[int, ...] | tuple[float, ...] | LinkedView
"""An answer: chosen words, a number, the places of a cell's row and column or of a token, words in order, heights of a
curve, or the state that a student has set."""

Truth: TypeAlias = tuple[str, ...] | float | Numbers | Mapping[str, float] | bool
"""The right words, the number, the numbers of which a place or a curve is asked, each item's number, or whether the
first state fulfils the condition already."""


def check_text(text: str) -> str:
    """The text; raises `ValueError` where it has HTML."""
    if _HTML.search(text):
        raise ValueError("texts are Markdown without HTML: write `<` with a space behind it")
    return text


def check_formula(text: str) -> str:
    """The text of a formula; raises `InputError` where it is none. A case's words may be numbers."""
    Formula(PLACE.sub("0", text)).check(("other", "start"), _VARIABLES)
    return text


Text = Annotated[str, Field(min_length=1, max_length=2_000), AfterValidator(check_text)]
"""Markdown without HTML, in which `{name}` stands for what the variant puts there."""
FormulaText = Annotated[str, AfterValidator(check_formula)]
"""As of `playground.learn.formulas`; `{name}` in it as in a text."""


class Posed(Protocol):
    """A question with its states, as `Variant` is one."""

    @property
    def truth(self) -> Any:
        """What an answer's `find_truth` gives."""

    @property
    def view(self) -> LinkedView:
        """The state that the question is about."""

    def compute(self, formula: str, given: Any = None) -> Any:
        """What a formula comes to; of a given state where that is the answer."""

    def open(self, changed: Mapping[str, Any]) -> LinkedView:
        """The question's state with other values of these parameters."""

    def fill(self, text: str) -> str:
        """A text with the case's words."""

    @property
    def exercise(self) -> Any:
        """The `Exercise` that asks."""


class Option(Record):
    """One of several possible answers."""

    text: Text
    when: FormulaText
    """The condition under which it is right."""


class Item(Record):
    """One of the things to put in order."""

    text: Text
    value: FormulaText


def _read_words(answer: Any, known: Mapping[str, Any]) -> tuple[str, ...]:
    words = (answer,) if isinstance(answer, str) else tuple(map(str, answer))
    if not words or not set(words) <= set(known):
        raise InputError(f"An answer here is made of {join_words([quote_text(word) for word in known])}.")
    return words


class Choose(Record):
    """Choose one or several; in a mistake's condition, `answer` is the option's word, or `'word' in answer`."""

    kind: Literal["choose"]
    options: dict[Key, Option] = Field(min_length=2, max_length=8)
    several: bool = False

    def find_truth(self, posed: Posed) -> tuple[str, ...]:
        """The words of the options that are right."""
        right = tuple(word for word, option in self.options.items() if posed.compute(option.when))
        if not right:
            raise InputError("None of the options is right.")
        return right

    def read(self, answer: Any, _: Posed) -> tuple[str, ...]:
        """The words of the chosen options."""
        return _read_words(answer, self.options)

    def is_right(self, given: tuple[str, ...], posed: Posed) -> bool:
        """Whether all that are right were chosen and no other one; of a single choice, whether it is right."""
        return set(given) == set(posed.truth) if self.several else len(given) == 1 and given[0] in posed.truth

    def names(self, given: tuple[str, ...], _: Posed) -> Mapping[str, Any]:
        """What a mistake's condition may call by name."""
        return {"answer": given if self.several else given[0]}

    def ask_on_paper(self, posed: Posed) -> str:
        """What is ticked by hand."""
        lines = [f"- ☐ {posed.fill(option.text)}" for option in self.options.values()]
        return "\n".join([*lines, "", "More than one may be right."] if self.several else lines)

    def describe_truth(self, posed: Posed) -> str:
        """What is right, in words."""
        return " ".join(f"☑ {posed.fill(self.options[word].text)}" for word in posed.truth)

    def explain_form(self, posed: Posed) -> str:
        """How an answer is written in Python."""
        lines = [f"- `{word!r}`: {posed.fill(option.text)}" for word, option in self.options.items()]
        how = "A list of these words, of which several may be right:" if self.several else "One of these words:"
        return "\n".join([how, "", *lines])


class Number(Record):
    """Give a number; in a mistake's condition, `near(answer, …)` knows the tolerance."""

    kind: Literal["number"]
    truth: FormulaText
    tolerance: float = Field(0.02, ge=0, le=1)
    """Share of the truth by which an answer may differ."""
    within: float = Field(0.0, ge=0, allow_inf_nan=False)
    """How far it may differ besides, in the number's own unit."""
    unit: str = Field("", max_length=40)

    def find_truth(self, posed: Posed) -> float:
        """The number."""
        return float(posed.compute(self.truth))

    def read(self, answer: Any, _: Posed) -> float:
        """A finite number."""
        number = float(answer)
        if not math.isfinite(number):
            raise InputError("The answer is a finite number, such as 0.25.")
        return number

    def is_near(self, one: float, other: float) -> bool:
        """Whether two numbers differ by no more than an answer may."""
        return math.isclose(one, other, rel_tol=self.tolerance, abs_tol=self.within)

    def is_right(self, given: float, posed: Posed) -> bool:
        """Whether a number is near enough."""
        return self.is_near(given, posed.truth)

    def names(self, given: float, _: Posed) -> Mapping[str, Any]:
        """What a mistake's condition may call by name."""
        return {"answer": given}

    def ask_on_paper(self, _: Posed) -> str:
        """What is filled in by hand."""
        return f"Answer: {_BLANK} {self.unit}".rstrip()

    def describe_truth(self, posed: Posed) -> str:
        """What is right, in words."""
        return f"{posed.truth:,.4g} {self.unit}".rstrip()

    def explain_form(self, _: Posed) -> str:
        """How an answer is written in Python."""
        return f"A number{f' ({self.unit})' if self.unit else ''}."


def _find_numbers(formula: str, posed: Posed) -> Numbers:
    numbers = posed.compute(formula)
    if not isinstance(numbers, Numbers):
        raise InputError(f"`{formula}` is one number, and numbers along an axis are asked for.")
    return numbers


class Click(Record):
    """Click a cell, a head or a token: of all, the largest or smallest.

    In a mistake's condition, `row` and `column` count from 0, `row_name` and `column_name` are their names, `value` is
    the number there.
    """

    kind: Literal["click"]
    of: FormulaText
    """`Numbers` along one or two axes."""
    wanted: Literal["largest", "smallest"] = "largest"

    def find_truth(self, posed: Posed) -> Numbers:
        """The numbers of which a place is asked."""
        return _find_numbers(self.of, posed)

    def read(self, answer: Any, posed: Posed) -> tuple[int, ...]:
        """The place of a row and a column, or of a token: numbers from 0, or names."""
        parts = (answer,) if isinstance(answer, str | int) else tuple(answer)
        axes = [names for names in (posed.truth.rows, posed.truth.columns) if names]
        if len(parts) != len(axes):
            raise InputError(f"A place here has {len(axes)} parts.")
        return tuple(_find_place(part, names) for part, names in zip(parts, axes, strict=True))

    def is_right(self, given: tuple[int, ...], posed: Posed) -> bool:
        """Whether no place has a larger number, or a smaller one."""
        values = posed.truth.values
        best = np.nanmax(values) if self.wanted == "largest" else np.nanmin(values)
        return math.isclose(values[given], best, rel_tol=_CLOSE)

    def names(self, given: tuple[int, ...], posed: Posed) -> Mapping[str, Any]:
        """What a mistake's condition may call by name."""
        numbers: Numbers = posed.truth
        names = {"answer": given, "value": numbers[given], "row": given[0], "row_name": numbers.rows[given[0]]}
        if numbers.columns:
            names |= {"column": given[1], "column_name": numbers.columns[given[1]]}
        return names

    def ask_on_paper(self, posed: Posed) -> str:
        """What is filled in by hand; the places' names have to be computed."""
        return f"Answer: {' → '.join(_BLANK for _ in posed.truth.axes)}"

    def describe_truth(self, posed: Posed) -> str:
        """What is right, in words."""
        numbers: Numbers = posed.truth
        best = numbers.best(self.wanted)
        return f"{escape_markdown(numbers.name(best))}, with {numbers[best]:.4g}"

    def explain_form(self, _: Posed) -> str:
        """How an answer is written in Python."""
        return "The token's name or place from 0; of a cell, a list of the row's and the column's."


def _find_place(part: Any, names: Sequence[str]) -> int:
    place = part if isinstance(part, int) else names.index(part) if part in names else -1
    if not 0 <= place < len(names):
        raise InputError(f"There is no {quote_text(str(part))} among {quote_text(', '.join(names), 200)}.")
    return place


class Order(Record):
    """Put things in order; in a mistake's condition, `first` and `last` are words of `items`."""

    kind: Literal["order"]
    items: dict[Key, Item] = Field(min_length=3, max_length=7)
    wanted: Literal["largest first", "smallest first"] = "largest first"

    def find_truth(self, posed: Posed) -> Mapping[str, float]:
        """Each thing's number, by its word."""
        return {word: float(posed.compute(item.value)) for word, item in self.items.items()}

    def read(self, answer: Any, _: Posed) -> tuple[str, ...]:
        """The words in order, each once."""
        words = _read_words(answer, self.items)
        if sorted(words) != sorted(self.items):
            raise InputError(f"An order has each of the {len(self.items)} once.")
        return words

    def is_right(self, given: tuple[str, ...], posed: Posed) -> bool:
        """Whether no number stands behind a smaller one, or a larger one; equal numbers may change places."""
        sign = 1 if self.wanted == "largest first" else -1
        numbers = [posed.truth[word] for word in given]
        return all(sign * (a - b) >= -_CLOSE * abs(a) for a, b in pairwise(numbers))

    def names(self, given: tuple[str, ...], _: Posed) -> Mapping[str, Any]:
        """What a mistake's condition may call by name."""
        return {"answer": given, "first": given[0], "last": given[-1]}

    def ask_on_paper(self, posed: Posed) -> str:
        """What is numbered by hand."""
        rows = [f"- {_BLANK[:6]} {posed.fill(self.items[word].text)}" for word in self._mix(posed)]
        return "\n".join([f"Number them, the {self.wanted}.", "", *rows])

    def describe_truth(self, posed: Posed) -> str:
        """What is right, in words."""
        words = sorted(self.items, key=lambda word: posed.truth[word], reverse=self.wanted == "largest first")
        return "; ".join(f"{posed.fill(self.items[word].text)} ({posed.truth[word]:,.4g})" for word in words)

    def explain_form(self, posed: Posed) -> str:
        """How an answer is written in Python."""
        lines = [f"- `{word!r}`: {posed.fill(self.items[word].text)}" for word in self._mix(posed)]
        return "\n".join([f"A list of these words, the {self.wanted}:", "", *lines])

    def _mix(self, posed: Posed) -> list[str]:
        """The words in an order that has nothing to do with the truth, the same everywhere for one exercise."""
        return sorted(self.items, key=lambda word: sha256(f"{posed.exercise.key} {word}".encode()).digest())


def handle_places(n: int) -> list[int]:
    """Where the handles of a curve stand along an axis of n places."""
    return [int(place) for place in np.linspace(0, n - 1, HANDLES).round()]


class Draw(Record):
    """Draw a curve by five handles; in a mistake's condition, `answer[0]` … `answer[4]` are their heights."""

    kind: Literal["draw"]
    of: FormulaText
    """`Numbers` along one axis; the handles stand at equal distances from its first place to its last."""
    tolerance: float = Field(0.15, gt=0, le=1)
    """How far a handle may lie off, as a share of `high` − `low`."""
    low: float = Field(allow_inf_nan=False)
    high: float = Field(allow_inf_nan=False)
    """What the axis of the numbers reaches from and to."""
    x_title: Text
    y_title: Text

    def find_truth(self, posed: Posed) -> Numbers:
        """The numbers of the curve."""
        return _find_numbers(self.of, posed)

    def heights(self, posed: Posed) -> Array:
        """The true heights at the handles: (5,)."""
        values = posed.truth.values
        heights: Array = values[handle_places(len(values))]
        return heights

    def read(self, answer: Any, _: Posed) -> tuple[float, ...]:
        """The heights of the handles."""
        heights = tuple(float(each) for each in answer)
        if len(heights) != HANDLES or not all(map(math.isfinite, heights)):
            raise InputError(f"A curve has {HANDLES} heights.")
        return heights

    def is_right(self, given: tuple[float, ...], posed: Posed) -> bool:
        """Whether each handle is near enough to the curve."""
        off = np.abs(np.asarray(given) - self.heights(posed))
        return bool(np.all(off <= self.tolerance * (self.high - self.low)))

    def names(self, given: tuple[float, ...], _: Posed) -> Mapping[str, Any]:
        """What a mistake's condition may call by name."""
        return {"answer": given}

    def ask_on_paper(self, _: Posed) -> str:
        """What is drawn by hand."""
        return f"Draw the curve: {self.x_title} from left to right, {self.y_title} from {self.low:g} to {self.high:g}."

    def describe_truth(self, posed: Posed) -> str:
        """What is right, in words."""
        return "Through " + ", ".join(f"{height:.3g}" for height in self.heights(posed)) + " at five equal distances."

    def explain_form(self, _: Posed) -> str:
        """How an answer is written in Python."""
        return f"A list of five heights ({self.y_title}), at equal distances along {self.x_title}."


def _check_parameter(key: str) -> str:
    if key not in PARAMS:
        raise ValueError(f"there is no parameter {quote_text(key)} of a link")
    return key


Parameter = Annotated[str, AfterValidator(_check_parameter)]
"""A key of the link."""


class Settings(Record):
    """Change the settings until a condition holds; there, `start.` stands before quantities of the first state."""

    kind: Literal["settings"]
    until: FormulaText
    keep: list[Parameter] = Field(default_factory=list)
    """Parameters of the link that have to stay as they are."""

    def find_truth(self, posed: Posed) -> bool:
        """Whether the first state fulfils the condition already."""
        return bool(posed.compute(self.until))

    def read(self, answer: Any, posed: Posed) -> LinkedView:
        """The state that was set, also where it is given by its parameters alone."""
        return answer if isinstance(answer, LinkedView) else posed.open(answer)

    def changed(self, given: LinkedView, posed: Posed) -> list[str]:
        """The parameters that should have stayed, and did not."""
        return [key for key in self.keep if given.values[key] != posed.view.values[key]]

    def is_right(self, given: LinkedView, posed: Posed) -> bool:
        """Whether the condition holds, and all stayed that should."""
        return not self.changed(given, posed) and bool(posed.compute(self.until, given))

    def names(self, given: LinkedView, _: Posed) -> Mapping[str, Any]:
        """What a mistake's condition may call by name: quantities are of the given state."""
        return {"answer": given}

    def ask_on_paper(self, _: Posed) -> str:
        """What is filled in by hand."""
        return f"Settings that you have changed: {_BLANK}"

    def describe_truth(self, posed: Posed) -> str:
        """What is right, in words."""
        solved: Any = posed.exercise.solved
        if not isinstance(solved, Mapping) or not self.is_right(self.read(solved, posed), posed):
            return "There are several ways."
        changes = [f"`{key}` = {write(value)}" for key, value in solved.items()]
        return f"One way: {', '.join(changes)}"

    def explain_form(self, _: Posed) -> str:
        """How an answer is written in Python."""
        return "A link to the state, or a dictionary of the settings that you have changed."


Answer: TypeAlias = Annotated[Choose | Number | Click | Order | Draw | Settings, Field(discriminator="kind")]
ANSWER_KINDS = ("choose", "number", "click", "order", "draw", "settings")


def is_close(one: float, other: float) -> bool:
    """Whether two numbers are the same but for rounding."""
    return math.isclose(one, other, rel_tol=_CLOSE)


_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?")


def parse_number(text: str) -> float:
    """The number that a text says.

    Raises:
        InputError: it says none; the message shows what would work.
    """
    number = _parse(text)
    if number is None or not math.isfinite(number):
        said = f"{quote_text(text.strip(), longest=24)} is no number" if text.strip() else "There is no number yet"
        raise InputError(f"{said}: 0.25, 1/4 and 25 % would be one.")
    return number


def _parse(text: str) -> float | None:
    text = re.sub(r"[\s_]", "", text).replace("−", "-").replace("–", "-")
    above, slash, below = text.removesuffix("%").partition("/")
    numerator, denominator = _parse_plain(above), _parse_plain(below) if slash else 1.0
    if numerator is None or not denominator:
        return None
    return numerator / denominator / (100 if text.endswith("%") else 1)


def _parse_plain(text: str) -> float | None:
    if _THOUSANDS.fullmatch(text):
        text = text.replace(",", "")
    elif text.count(",") == 1 and "." not in text:
        text = text.replace(",", ".")  # as half of Europe writes it
    return float(text) if _NUMBER.fullmatch(text) else None
