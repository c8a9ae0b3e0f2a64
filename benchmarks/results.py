"""What was measured beside what it should stay under, as one table."""

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Result:
    """One line of the table.

    Attributes:
        what: what was measured.
        value: a ratio, or a number in `unit`.
        target: the largest value that is good enough; None where the value is shown for information.
        unit: empty for a ratio.
        note: the absolute numbers behind it.
    """

    what: str
    value: float
    target: float | None = None
    unit: str = ""
    note: str = ""

    @property
    def verdict(self) -> str:
        """`ok`, `MISSED`, or nothing where there is no target."""
        if self.target is None:
            return ""
        return "ok" if self.value <= self.target else "MISSED"


def table(results: Sequence[Result]) -> str:
    """The results, one a line, in columns."""
    rows = [("what", "value", "target", "", "behind it")]
    for result in results:
        unit = result.unit or "×"
        target = "" if result.target is None else f"≤ {result.target:g} {unit}"
        rows.append((result.what, f"{result.value:.2f} {unit}", target, result.verdict, result.note))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def seconds(action: Callable[[], Any]) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def interleaved(actions: Mapping[str, Callable[[], Any]], rounds: int) -> dict[str, list[float]]:
    """Seconds of each action in each round; one round runs all of them, beginning with the next one each time.

    So whatever slows the machine for a while slows every action alike, and none always follows the same other.
    """
    for action in actions.values():
        action()
    times: dict[str, list[float]] = {name: [] for name in actions}
    names = list(actions)
    for turn in range(rounds):
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            times[name].append(seconds(actions[name]))
    return times


def paired_ratio(times: Sequence[float], reference: Sequence[float]) -> float:
    """The median of the rounds' ratios."""
    return statistics.median(a / b for a, b in zip(times, reference, strict=True))
