"""The kinds of answers to exercises; the form of each is in `web/views/exercises.py`."""

import html
import math
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, Field

from playground.charts import palette
from playground.charts.chart import Axis, Heatmap, Item, Paragraph
from playground.charts.colour_scales import from_zero
from playground.charts.figure import Frame
from playground.charts.names import escape_markdown
from playground.errors import InputError
from playground.learn.formulas import check_formula, read_number
from playground.learn.quantities import Numbers, find_place
from playground.learn.reading import Key, Record
from playground.link.kinds import write
from playground.link.opening import LinkedView
from playground.link.params import FOLDS, PARAMS
from playground.pages import PAGES
from playground.text.wording import join_words, quote_text
from playground.words import say

Given: TypeAlias = tuple[str, ...] | float | tuple[int, ...] | LinkedView
"""An answer: words, a number, the places of a row and column or of a token, or a state."""


def check_text(text: str) -> str:
    """Return the text; raises `ValueError` if it has HTML or pictures."""
    if re.search(r"<[A-Za-z/!?]", text):
        raise ValueError("texts are Markdown without HTML: write `<` with a space behind it")
    if "![" in text:
        raise ValueError("texts have no pictures: these would be fetched from elsewhere")
    return text


def check_page(path: str) -> str:
    """Return a page's path; raises `ValueError` if there is none."""
    if path not in PAGES:
        raise ValueError(f"there is no page {quote_text(path)}: those are {', '.join(PAGES)}")
    return path


def _check_parameter(key: str) -> str:
    if key not in PARAMS:
        raise ValueError(f"there is no parameter {quote_text(key)} of a link")
    return key


Text = Annotated[str, Field(min_length=1, max_length=2_000), AfterValidator(check_text)]
"""Markdown without HTML and pictures; a case fills in `{name}`."""
FormulaText = Annotated[str, AfterValidator(check_formula)]
Parameter = Annotated[str, AfterValidator(_check_parameter)]


class Option(Record):
    """A possible answer, which is right `when` a formula holds."""

    text: Text
    when: FormulaText


class _Kind(Record):
    def is_right(self, given: Any, variant: Any) -> bool:
        """Return whether an answer is right."""
        return bool(given == variant.truth)

    def name(self, given: Any, _: Any) -> Mapping[str, Any]:
        """Return what formulas may call an answer."""
        return {"answer": given}


class Choose(_Kind):
    """Choose one or several; in a mistake's condition, `answer` is the option's word, or `'word' in answer`."""

    kind: Literal["choose"]
    options: dict[Key, Option] = Field(min_length=2, max_length=8)
    several: bool = False

    def find_truth(self, variant: Any) -> tuple[str, ...]:
        """Return the right options' words."""
        right = tuple(word for word, option in self.options.items() if variant.compute(option.when))
        if not right or (len(right) > 1 and not self.several):
            raise InputError(f"The right options are: {join_words(right) or 'none'}.")
        return right

    def read(self, answer: Any, _: Any) -> tuple[str, ...]:
        """Read words of options, in any order."""
        words = {answer} if isinstance(answer, str) else {*map(str, answer)}
        if not words or not words <= set(self.options):
            raise InputError(f"An answer here is made of {join_words(list(self.options))}.")
        return tuple(word for word in self.options if word in words)

    def name(self, given: tuple[str, ...], _: Any) -> Mapping[str, Any]:
        """Return the word, or the words of several."""
        return {"answer": given if self.several else given[0]}

    def compare(self, given: tuple[str, ...] | None, variant: Any) -> Item:
        """Mark the options that are right, and the chosen ones."""
        lines = [
            f"- {'✓' if word in variant.truth else '✗'} {variant.fill(option.text)}"
            f"{say('exercises', 'chosen') if word in (given or ()) else ''}"
            for word, option in self.options.items()
        ]
        return Paragraph("\n".join(lines))


class Number(_Kind):
    """Give a number; in a mistake's condition, `near(answer, …)` knows the tolerance."""

    kind: Literal["number"]
    truth: FormulaText
    tolerance: float = Field(0.02, ge=0, le=1)
    """How far an answer may be off, as a share of the truth."""
    within: float = Field(0.0, ge=0, allow_inf_nan=False)
    """The same, in the number's unit."""
    unit: str = Field("", max_length=40)

    def find_truth(self, variant: Any) -> float:
        """Return the number."""
        return read_number(variant.compute(self.truth), self.truth)

    def read(self, answer: Any, _: Any) -> float:
        """Read a finite number, or its text."""
        return parse_number(answer if isinstance(answer, str) else repr(float(answer)))

    def is_near(self, one: float, other: float) -> bool:
        """Return whether two numbers are as near as an answer has to be."""
        return math.isclose(one, other, rel_tol=self.tolerance, abs_tol=self.within)

    def is_right(self, given: float, variant: Any) -> bool:
        """Return whether it is near the truth."""
        return self.is_near(given, variant.truth)

    def name(self, given: float, _: Any) -> Mapping[str, Any]:
        """Return the number, and what is near."""
        return {"answer": given, "near": self.is_near}

    def compare(self, given: float | None, variant: Any) -> Item:
        """Write both numbers."""
        said = "" if given is None else say("exercises", "said", number=write_answer(given)) + " "
        return Paragraph(said + say("exercises", "computed", number=write_answer(variant.truth), unit=self.unit))


class Click(_Kind):
    """Choose the token or head with the largest number; formulas know its `row`, `column` and `row_name`."""

    kind: Literal["click"]
    of: FormulaText

    def find_truth(self, variant: Any) -> Numbers:
        """Return the numbers."""
        numbers = variant.compute(self.of)
        if not isinstance(numbers, Numbers) or len(numbers.axes) > 2:
            raise InputError(f"`{self.of}` has to be numbers along one or two axes.")
        return numbers

    def read(self, answer: Any, variant: Any) -> tuple[int, ...]:
        """Read the place of a row and a column, or of a token, by number from 0 or by name."""
        parts = (answer,) if isinstance(answer, str | int) else tuple(answer)
        axes = list(variant.truth.axes.items())
        return tuple(find_place(names, part, title) for (title, names), part in zip(axes, parts, strict=True))

    def is_right(self, given: tuple[int, ...], variant: Any) -> bool:
        """Return whether no number is larger."""
        return bool(given == variant.truth.best)

    def name(self, given: tuple[int, ...], variant: Any) -> Mapping[str, Any]:
        """Return the row and the column."""
        rows, *_ = variant.truth.axes.values()
        return {"row": given[0], "column": given[-1], "row_name": rows[given[0]]}

    def compare(self, given: tuple[int, ...] | None, variant: Any) -> Item:
        """Draw the numbers, with frames around the largest one and the answer."""
        truth: Numbers = variant.truth
        *above, across = truth.axes
        cells = truth.values if above else truth.values[None, :]

        def frame(place: Sequence[int], colour: str, width: int) -> Frame:
            row, column = place if above else (0, place[0])
            return ((row, row), (column, column), colour, width)

        frames = [frame(truth.best, palette.CHANGE, 7)]
        caption = say("exercises", "largest", place=truth.name(truth.best), number=f"{truth.values[truth.best]:.4g}")
        if given is not None:
            frames.append(frame(given, palette.FOCUS, 3))
            chosen = say("exercises", "place", place=truth.name(given), number=f"{truth.values[given]:.4g}")
            caption = f"{chosen} {caption}"
        *rows, columns = ([html.escape(name, quote=False) for name in names] for names in truth.labels)
        return Heatmap[Any](
            key="exercise_truth",
            alt="Heatmap of the numbers with the largest one framed",
            caption=caption,
            values=lambda _: cells,
            rows=Axis("".join(above), lambda _: rows[0] if rows else [""], options={"autorange": "reversed"}),
            columns=Axis(across, lambda _: columns),
            bar="",
            hover="%{y}, %{x}" if above else "%{x}",
            more="a larger number",
            colours=from_zero,
            frames=lambda _: frames,
            height=None if above else 170,
            compares=False,
        )


class Settings(_Kind):
    """Change the settings until a condition holds; there, `start.` stands before quantities of the first state."""

    kind: Literal["settings"]
    until: FormulaText
    keep: list[Parameter] = Field(default_factory=list)
    """Parameters that have to stay."""

    def find_truth(self, variant: Any) -> bool:
        """Return False, as the first state has to differ; raises `InputError`."""
        if variant.compute(self.until):
            raise InputError("The state fulfils the condition from the start.")
        return False

    def read(self, answer: Any, variant: Any) -> LinkedView:
        """Read a state, or changed parameters."""
        return answer if isinstance(answer, LinkedView) else variant.open(answer)

    def find_changed(self, given: LinkedView, variant: Any) -> list[str]:
        """Return the parameters that did not stay."""
        return [key for key in self.keep if given.values[key] != variant.view.values[key]]

    def is_right(self, given: LinkedView, variant: Any) -> bool:
        """Return whether the condition holds and all stayed that should."""
        return not self.find_changed(given, variant) and bool(variant.compute(self.until, given))

    def compare(self, given: LinkedView | None, variant: Any) -> Item:
        """List what was changed until the condition held."""
        before = variant.view.values
        now = before if given is None else given.values
        changes = [
            f"- `{key}`: {write(before[key])} → **{escape_markdown(write(now[key]))}**"
            for key in now
            if now[key] != before[key] and key not in FOLDS.values()
        ]
        return Paragraph("\n".join([say("exercises", "holds"), "", *changes]) if changes else "")


Answer: TypeAlias = Annotated[Choose | Number | Click | Settings, Field(discriminator="kind")]

_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?")


def write_answer(number: float) -> str:
    """Write a number with four digits, a whole one with all: `0.6768`, `22,565,376`."""
    return f"{number:,.0f}" if number == round(number) and abs(number) < 1e12 else f"{number:,.4g}"


def parse_number(text: str) -> float:
    """Return the number of a text such as 0.25, 0,25, 1/4, 25 % or 1,024; raises `InputError`."""
    plain = re.sub(r"[\s_]", "", text).replace("−", "-").replace("–", "-")
    parts = plain.removesuffix("%").split("/", 1)
    try:
        above, below = (
            float(part.replace(",", "" if _THOUSANDS.fullmatch(part) else ".")) for part in (*parts, "1")[:2]
        )
        number = above / below / (100 if plain.endswith("%") else 1)
    except (ValueError, ZeroDivisionError):
        number = math.nan
    if not math.isfinite(number):
        raise InputError(say("exercises", "no-number", text=quote_text(text.strip(), longest=24)))
    return number
