"""Numbers that take long, measured some at a time by whoever looks, and kept for everybody who asks for the same."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic

import numpy as np

from playground.runs.arrays import Array

Rows = tuple[int, ...]

MOST_TOGETHER = 24
"""Rows that are measured together, at most: others wait no longer for a turn than that takes, and a batch of more is no
faster."""


@dataclass(eq=False)
class GrowingNumbers:
    """A table, (rows, columns), NaN where it is not measured yet; it lies in a cache, and sessions fill it together.

    No session computes beyond what it shows: a part that one visitor has measured is there for the next, and where
    nobody looks, nothing goes on.
    """

    numbers: Array
    parts: Sequence[Rows]
    """The rows that are measured together, in the order of their measurement."""
    work: Sequence[float]
    """What each part costs, in any unit."""
    n_done: int = 0
    """Parts that are measured."""
    seconds: float = 0.0
    """What they took, waiting for a turn included."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def is_complete(self) -> bool:
        """Whether everything is measured."""
        return self.n_done == len(self.parts)

    @property
    def share(self) -> float:
        """How much of the work is done, 0 … 1."""
        return sum(self.work[: self.n_done]) / sum(self.work) if self.parts else 1.0

    @property
    def seconds_left(self) -> float:
        """What the rest will take, by what the parts before it took; infinite before the first."""
        if self.is_complete:
            return 0.0
        done = sum(self.work[: self.n_done])
        return self.seconds / done * sum(self.work[self.n_done :]) if done else float("inf")

    def advance(self, measure: Callable[[Rows], Array], seconds: float) -> None:
        """Measure the next part, and further ones until so many seconds have passed; nothing where somebody else does.

        Nobody waits for another's measurement: whoever comes meanwhile takes the numbers that are there.
        `measure` computes some rows, (rows, columns). Where it fails, what was measured before stays.
        """
        if not self.lock.acquire(blocking=False):
            return
        try:
            begin = monotonic()
            while not self.is_complete:
                rows, start = self.parts[self.n_done], monotonic()
                self.numbers[list(rows)] = measure(rows)
                self.n_done += 1
                self.seconds += monotonic() - start
                if monotonic() - begin >= seconds:
                    return
        finally:
            self.lock.release()


def empty_numbers(parts: Sequence[Rows], work: Sequence[float], n_columns: int) -> GrowingNumbers:
    """A table of which nothing is measured; its parts hold every row once."""
    n_rows = sum(map(len, parts))
    return GrowingNumbers(np.full((n_rows, n_columns), np.nan, np.float32), tuple(parts), tuple(work))


def cut(rows: Sequence[int], most: int) -> list[Rows]:
    """Rows in their order, at most so many together, and at most `MOST_TOGETHER`."""
    most = min(most, MOST_TOGETHER)
    return [tuple(rows[first : first + most]) for first in range(0, len(rows), most)]
