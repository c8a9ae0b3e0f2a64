"""A variant of an exercise: a case filled in, its states, the computed truth, and the check of an answer."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

from playground.errors import InputError
from playground.learn.answers import COMPUTED, PLACE, Draw, Given, Number, Settings, Truth, is_close
from playground.learn.exercise import Exercise, Mistake
from playground.learn.formulas import Formula, Surroundings
from playground.link.opening import LinkedView, open_texts
from playground.link.params import write_all
from playground.runs.arrays import Array
from playground.text.wording import join_words

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
            value = self.compute(found[1])
            try:
                return format(value, found[2] or ".4g") if isinstance(value, int | float) else str(value)
            except ValueError as error:
                raise InputError(f"`{found[2]}` is no format of a number: `.2f` would be one.") from error

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
    wanted = max(1, len({tuple(case.items()) for case in exercise.cases}))
    for number in range(MAX_VARIANT + 1):
        variant = Variant(exercise, number)
        if variant.case not in seen:
            seen.append(variant.case)
            yield variant
        if len(seen) == wanted:
            return
