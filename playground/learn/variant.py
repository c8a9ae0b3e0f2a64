"""A variant of an exercise: a case filled in, its states, the computed truth, and the check of an answer."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from playground.errors import InputError
from playground.learn.exercise import HANDLES, Choose, Click, Draw, Exercise, Mistake, Number, Order, Settings
from playground.learn.formulas import Formula, Surroundings
from playground.learn.quantities import Numbers
from playground.link.opening import LinkedView, open_texts
from playground.link.params import write_all
from playground.runs.arrays import Array

Given: TypeAlias = tuple[str, ...] | float | tuple[int, ...] | tuple[float, ...] | LinkedView
"""An answer: chosen words, a number, the places of a cell's row and column or of a token, words in order, heights of a
curve, or the state that a student has set."""

Truth: TypeAlias = tuple[str, ...] | float | Numbers | Mapping[str, float] | bool
"""The right words, the number, the numbers of which a place or a curve is asked, each item's number, or whether the
first state fulfils the condition already."""

_NAME = re.compile(r"\{([a-z_]+)\}")
_COMPUTED = re.compile(r"\{=\s*([^{}|]+?)\s*(?:\|\s*([^{}|]+?)\s*)?\}")

_CLOSE = 1e-6
"""By how much, as a share, two numbers differ that count as equal."""


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
        return _NAME.sub(lambda found: self.case.get(found[1], found[0]), text)

    def explain(self, text: str) -> str:
        """A text with this case's words and with what is computed in it; it may give the answer away."""

        def compute(found: re.Match[str]) -> str:
            value = Formula(self.fill(found[1])).compute(self._surroundings())
            return format(value, found[2] or ".4g") if isinstance(value, int | float) else str(value)

        return self.fill(_COMPUTED.sub(compute, text))

    @cached_property
    def view(self) -> LinkedView:
        """The state that the question is about; raises as `open_link`."""
        return self._open(self.exercise.state)

    @cached_property
    def other(self) -> LinkedView | None:
        """The second state; None where the exercise has none."""
        other = self.exercise.other
        return None if other is None else self._open({**self.exercise.state, **other})

    def _open(self, state: Mapping[str, Any]) -> LinkedView:
        texts = {key: [self.fill(text) for text in write_all(value)] for key, value in state.items()}
        return open_texts(self.exercise.page, texts)

    @cached_property
    def truth(self) -> Truth:
        """What is right, computed; raises as `Formula.compute`."""
        match self.exercise.answer:
            case Choose(options=options):
                right = tuple(word for word, option in options.items() if self._compute(option.when))
                if not right:
                    raise InputError(f"No option of {self.exercise.key} is right.")
                return right
            case Number(truth=truth):
                return float(self._compute(truth))
            case Click(of=of) | Draw(of=of):
                return self._numbers(of)
            case Order(items=items):
                return {word: float(self._compute(item.value)) for word, item in items.items()}
            case Settings(until=until):
                return bool(self._compute(until))

    @property
    def heights(self) -> Array:
        """The true heights at the handles of a curve that is to be drawn: (5,)."""
        numbers = self._axes.values
        heights: Array = numbers[np.linspace(0, len(numbers) - 1, HANDLES).round().astype(int)]
        return heights

    @property
    def _axes(self) -> Numbers:
        """The truth where it is numbers along an axis."""
        if not isinstance(self.truth, Numbers):
            raise TypeError(f"{self.exercise.key} asks for no place and no curve")
        return self.truth

    def read(self, answer: Any) -> Given:
        """An answer as a file or a form has it, as this exercise's kind of answer; raises `InputError`."""
        try:
            match self.exercise.answer:
                case Choose(options=words) | Order(items=words):
                    given = (answer,) if isinstance(answer, str) else tuple(map(str, answer))
                    if not set(given) <= set(words):
                        raise InputError(f"An answer here is made of {', '.join(words)}.")
                    return given
                case Number():
                    number = float(answer)
                    if not math.isfinite(number):
                        raise InputError("The answer is a finite number, such as 0.25.")
                    return number
                case Click():
                    return self._find_place(answer)
                case Draw():
                    heights = tuple(float(each) for each in answer)
                    if len(heights) != HANDLES or not all(map(math.isfinite, heights)):
                        raise InputError(f"A curve has {HANDLES} heights.")
                    return heights
                case Settings():
                    return answer if isinstance(answer, LinkedView) else self._open({**self.exercise.state, **answer})
        except (TypeError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"This is no answer to {self.exercise.title}: {error}.") from error

    def _find_place(self, answer: Any) -> tuple[int, ...]:
        numbers = self._axes
        parts = (answer,) if isinstance(answer, str | int) else tuple(answer)
        axes = [names for names in (numbers.rows, numbers.columns) if names]
        if len(parts) != len(axes):
            raise InputError(f"A place here has {len(axes)} parts.")
        places = []
        for part, names in zip(parts, axes, strict=True):
            place = part if isinstance(part, int) else names.index(part) if part in names else -1
            if not 0 <= place < len(names):
                raise InputError(f"There is no {part} among {', '.join(names)}.")
            places.append(place)
        return tuple(places)

    def is_right(self, given: Given) -> bool:
        """Whether an answer is right; raises as `truth`, and where settings were changed that should stay."""
        answer, truth = self.exercise.answer, self.truth
        match answer, truth:
            case Choose(several=several), tuple():
                return set(given) == set(truth) if several else len(given) == 1 and given[0] in truth  # type: ignore
            case Number(), float():
                return self._is_near(given, truth)  # type: ignore[arg-type]
            case Click(wanted=wanted), Numbers():
                best = np.nanmax(truth.values) if wanted == "largest" else np.nanmin(truth.values)
                return math.isclose(truth.values[given], best, rel_tol=_CLOSE)  # type: ignore[index]
            case Draw(tolerance=tolerance, low=low, high=high), Numbers():
                return bool(np.all(np.abs(np.asarray(given) - self.heights) <= tolerance * (high - low)))
            case Order(wanted=wanted), dict():
                numbers = [truth[word] for word in given]  # type: ignore[union-attr]
                sign = 1 if wanted == "largest first" else -1
                in_order = all(sign * (a - b) >= -_CLOSE * abs(a) for a, b in pairwise(numbers))
                return in_order and len(set(given)) == len(truth)  # type: ignore[arg-type]
            case Settings(until=until, keep=keep), _ if isinstance(given, LinkedView):
                changed = [key for key in keep if given.values[key] != self.view.values[key]]
                return not changed and bool(self._compute(until, given))
        raise AssertionError(answer.kind)

    def check(self, given: Given) -> Verdict:
        """Whether an answer is right, and else which expected mistake it is; raises as `is_right`."""
        if self.is_right(given):
            return Verdict(True)
        answer = self.exercise.answer
        if isinstance(answer, Settings) and isinstance(given, LinkedView):
            changed = [key for key in answer.keep if given.values[key] != self.view.values[key]]
            if changed:
                return Verdict(False, f"Leave {' and '.join(f'`{key}`' for key in changed)} as it was.")
        for mistake in self.exercise.mistakes:
            if self._compute(mistake.when, given):
                return Verdict(False, self.fill(mistake.feedback), mistake)
        return Verdict(False)

    def _numbers(self, text: str) -> Numbers:
        numbers = self._compute(text)
        if not isinstance(numbers, Numbers):
            raise InputError(f"`{text}` is one number, and numbers along an axis are asked for.")
        return numbers

    def _compute(self, text: str, given: Given | None = None) -> Any:
        return Formula(self.fill(text)).compute(self._surroundings(given))

    def _is_near(self, one: float, other: float) -> bool:
        answer = self.exercise.answer
        if not isinstance(answer, Number):
            return math.isclose(one, other, rel_tol=_CLOSE)
        return math.isclose(one, other, rel_tol=answer.tolerance, abs_tol=answer.within)

    def _surroundings(self, given: Given | None = None) -> Surroundings:
        views = {"now": given if isinstance(given, LinkedView) else self.view, "start": self.view}
        if self.other is not None:
            views["other"] = self.other
        return Surroundings(views, {} if given is None else self._name_answer(given), self._is_near)

    def _name_answer(self, given: Given) -> Mapping[str, Any]:
        """What a mistake's condition may say of an answer."""
        match self.exercise.answer:
            case Choose(several=False):
                return {"answer": given[0]}  # type: ignore[index]
            case Click():
                numbers: Numbers = self._axes
                places: tuple[int, ...] = tuple(given)  # type: ignore[arg-type]
                names: dict[str, Any] = {"row": places[0], "row_name": numbers.rows[places[0]]}
                if numbers.columns:
                    names |= {"column": places[1], "column_name": numbers.columns[places[1]]}
                return {"answer": given, "value": numbers[given], **names}
            case Order():
                words: Sequence[Any] = given  # type: ignore[assignment]
                return {"answer": given, "first": words[0], "last": words[-1]}
        return {"answer": given}
