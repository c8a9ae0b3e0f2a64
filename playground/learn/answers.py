"""The kinds of answers to exercises: what is right, and how an answer is read.

To add a kind: a record here and in `Answer`; `playground/learn/compare_answer.py` draws an answer beside the truth,
`playground/web/views/exercises/answers.py` has the forms.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Protocol, TypeAlias

from pydantic import AfterValidator, Field

from playground.errors import InputError
from playground.learn.formulas import Formula
from playground.learn.quantities import Numbers
from playground.learn.reading import Key, Record
from playground.link.opening import LinkedView
from playground.link.params import PARAMS
from playground.text.wording import join_words, quote_text

PLACE = re.compile(r"\{([a-z_]+)\}")
"""A name in braces, which a case fills in."""

COMPUTED = re.compile(r"\{=([^{}|]+)(?:\|([^{}|]+))?\}")
"""A formula in a text, and the format of its number."""

_VARIABLES = ("answer", "row", "column", "row_name")

Given: TypeAlias = tuple[str, ...] | float | tuple[int, ...] | LinkedView
"""An answer: chosen words, a number, the places of a row and column or of a token, or the state that was set."""


def check_text(text: str) -> str:
    """Return the text; raises `ValueError` if it has HTML."""
    if re.search(r"<[A-Za-z/!?]", text):
        raise ValueError("texts are Markdown without HTML: write `<` with a space behind it")
    return text


def check_formula(text: str) -> str:
    """Return a formula's text; raises `InputError` if it is none. A case's words may be numbers."""
    Formula(PLACE.sub("0", text)).check(("other", "start"), _VARIABLES)
    return text


def _check_parameter(key: str) -> str:
    if key not in PARAMS:
        raise ValueError(f"there is no parameter {quote_text(key)} of a link")
    return key


Text = Annotated[str, Field(min_length=1, max_length=2_000), AfterValidator(check_text)]
"""Markdown without HTML, in which a case fills in `{name}`."""
FormulaText = Annotated[str, AfterValidator(check_formula)]
Parameter = Annotated[str, AfterValidator(_check_parameter)]
"""A key of the link."""


class Posed(Protocol):
    """A question with its states: a `Variant`."""

    @property
    def truth(self) -> Any:
        """What `find_truth` returned."""

    @property
    def view(self) -> LinkedView:
        """The state that the question is about."""

    def compute(self, formula: str, given: Any = None) -> Any:
        """Compute a formula; of the given state if that is the answer."""

    def open(self, changed: Mapping[str, Any]) -> LinkedView:
        """Return the question's state with other values of these parameters."""


class Option(Record):
    """One of several possible answers."""

    text: Text
    when: FormulaText
    """The condition under which it is right."""


class Choose(Record):
    """Choose one or several; in a mistake's condition, `answer` is the option's word, or `'word' in answer`."""

    kind: Literal["choose"]
    options: dict[Key, Option] = Field(min_length=2, max_length=8)
    several: bool = False

    def find_truth(self, posed: Posed) -> tuple[str, ...]:
        """Return the words of the options that are right."""
        right = tuple(word for word, option in self.options.items() if posed.compute(option.when))
        if not right or (len(right) > 1 and not self.several):
            raise InputError(f"The right options are: {join_words(right) or 'none'}.")
        return right

    def read(self, answer: Any, _: Posed) -> tuple[str, ...]:
        """Read the words of the chosen options."""
        words = (answer,) if isinstance(answer, str) else tuple(map(str, answer))
        if not words or not set(words) <= set(self.options):
            raise InputError(f"An answer here is made of {join_words(list(self.options))}.")
        return words

    def is_right(self, given: tuple[str, ...], posed: Posed) -> bool:
        """Whether all right options are chosen and no other."""
        return set(given) == set(posed.truth)

    def names(self, given: tuple[str, ...], _: Posed) -> Mapping[str, Any]:
        """Return the names of a mistake's condition."""
        return {"answer": given if self.several else given[0]}


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
        """Return the number."""
        return float(posed.compute(self.truth))

    def read(self, answer: Any, _: Posed) -> float:
        """Read a finite number."""
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
        """Return the names of a mistake's condition."""
        return {"answer": given}


class Click(Record):
    """Choose the token or head with the largest number.

    In a mistake's condition, `row` and `column` count from 0, `row_name` is the row's or token's name.
    """

    kind: Literal["click"]
    of: FormulaText
    """`Numbers` along one or two axes."""

    def find_truth(self, posed: Posed) -> Numbers:
        """Return the numbers of which a place is asked."""
        numbers = posed.compute(self.of)
        if not isinstance(numbers, Numbers):
            raise InputError(f"`{self.of}` is one number, and numbers along an axis are asked for.")
        return numbers

    def read(self, answer: Any, posed: Posed) -> tuple[int, ...]:
        """Read the place of a row and a column, or of a token: numbers from 0, or names."""
        parts = (answer,) if isinstance(answer, str | int) else tuple(answer)
        axes = [names for names in (posed.truth.rows, posed.truth.columns) if names]
        if len(parts) != len(axes):
            raise InputError(f"A place here has {len(axes)} parts.")
        return tuple(map(_find_place, parts, axes))

    def is_right(self, given: tuple[int, ...], posed: Posed) -> bool:
        """Whether no place has a larger number."""
        return bool(given == posed.truth.best)

    def names(self, given: tuple[int, ...], posed: Posed) -> Mapping[str, Any]:
        """Return the names of a mistake's condition."""
        return {"row": given[0], "row_name": posed.truth.rows[given[0]], "column": given[-1]}


def _find_place(part: Any, names: Sequence[str]) -> int:
    place = part if isinstance(part, int) else names.index(part) if part in names else -1
    if not 0 <= place < len(names):
        raise InputError(f"There is no {quote_text(str(part))} among {quote_text(', '.join(names), 200)}.")
    return place


class Settings(Record):
    """Change the settings until a condition holds; there, `start.` stands before quantities of the first state."""

    kind: Literal["settings"]
    until: FormulaText
    keep: list[Parameter] = Field(default_factory=list)
    """Parameters of the link that have to stay as they are."""

    def find_truth(self, posed: Posed) -> bool:
        """Return False: the first state does not fulfil the condition."""
        if posed.compute(self.until):
            raise InputError("The state fulfils the condition from the start.")
        return False

    def read(self, answer: Any, posed: Posed) -> LinkedView:
        """Read a state, or the parameters that were changed."""
        return answer if isinstance(answer, LinkedView) else posed.open(answer)

    def find_changed(self, given: LinkedView, posed: Posed) -> list[str]:
        """Return the parameters that should have stayed and did not."""
        return [key for key in self.keep if given.values[key] != posed.view.values[key]]

    def is_right(self, given: LinkedView, posed: Posed) -> bool:
        """Whether the condition holds, and all stayed that should."""
        return not self.find_changed(given, posed) and bool(posed.compute(self.until, given))

    def names(self, _: LinkedView, __: Posed) -> Mapping[str, Any]:
        """Return no names: quantities are of the given state."""
        return {}


Answer: TypeAlias = Annotated[Choose | Number | Click | Settings, Field(discriminator="kind")]
ANSWER_KINDS = ("choose", "number", "click", "settings")


_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?")


def parse_number(text: str) -> float:
    """Return the number that a text says.

    Raises:
        InputError: it says none.
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
