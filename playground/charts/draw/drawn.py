"""What a renderer shows of a chart, and what all kinds of charts share."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias, TypeVar

import pandas as pd

from playground.charts.bars import LabelledRows
from playground.charts.chart import Axis, CellRanges, Chart, Table
from playground.charts.figure import Array, Figure
from playground.charts.head_lines import Lines
from playground.charts.scene import Scene

S = TypeVar("S")


@dataclass(frozen=True)
class SavedHeads:
    """All heads' weights, saved in place of thumbnails."""

    weights: Callable[[], Array]
    queries: Sequence[str]
    keys: Sequence[str]
    n_heads: int


Side: TypeAlias = Literal["", "pinned", "difference"]

_ALTS: Mapping[Side, str] = {"pinned": "The same chart of the pinned settings.", "difference": "Its change."}


@dataclass(frozen=True)
class Drawn:
    """One side of a chart, for a renderer."""

    chart: Chart[Any]
    side: Side
    plotted: Figure | Callable[[], Figure]
    """The figure, or what makes it if few ask for it."""
    caption: str
    numbers: Callable[[], pd.DataFrame] | None = None
    """Makes the table."""
    cells: CellRanges | None = None
    """What a click chooses."""
    live: LabelledRows | Lines | SavedHeads | None = None
    """Drawn by a live page, or saved, in place of the figure."""
    saved_table: Callable[[], pd.DataFrame] | None = None
    """Saved if the figure lacks the numbers."""
    least_width: int = 0
    """Pixels; a phone scrolls a wider figure."""

    @cached_property
    def figure(self) -> Figure:
        """What notebooks show and what is saved."""
        return self.plotted() if callable(self.plotted) else self.plotted

    @property
    def key(self) -> str:
        """Of its container."""
        return f"{self.chart.beside_key or self.chart.key}_{self.side}" if self.side else self.chart.key

    @property
    def alt(self) -> str:
        """Its name for those who cannot see it."""
        return _ALTS.get(self.side, self.chart.alt)

    @property
    def saved_as(self) -> str:
        """Name of the saved files; empty for the key."""
        chart = self.chart
        return f"{chart.saved_as or chart.beside_key or chart.key}_{self.side}" if self.side else chart.saved_as

    @property
    def table(self) -> Callable[[], pd.DataFrame] | None:
        """The numbers to read and copy."""
        return self.numbers if self.chart.is_tabulated else None

    @property
    def table_title(self) -> str:
        """The heading of the table."""
        return "The numbers" if self.side else self.chart.table_title

    @property
    def on_row(self) -> Callable[[Any], Mapping[str, Any]] | None:
        """What a click on a row of the table chooses."""
        return None if self.side else self.chart.on_row

    @property
    def chosen(self) -> Mapping[str, int]:
        """The page's own places where the frame stands."""
        return {} if self.side else self.chart.chosen

    @property
    def grows(self) -> bool:
        """Whether a live page draws it without Plotly."""
        return self.chart.grows and not self.side


@dataclass(frozen=True)
class Drawing:
    """A chart of a scene."""

    now: Drawn
    beside: tuple[Drawn, ...] = ()
    """The pinned subject's, and the difference."""
    note: str = ""
    """Why something is not shown; markdown."""
    in_one_row: bool = False
    """Whether all stand in one row."""


def compare_tables(now: pd.DataFrame, pinned: pd.DataFrame | None) -> pd.DataFrame:
    """A table; with a pinned one's numbers and the differences behind each shared column."""
    if pinned is None:
        return now
    columns: dict[str, Any] = {}
    every = now.index.union(pinned.index, sort=False)
    for name in now:
        values = now[name].reindex(every)
        if name not in pinned or not pd.api.types.is_numeric_dtype(now[name]):
            columns[str(name)] = values
            continue
        before = pinned[name].reindex(every)
        if name == "now":
            columns |= {"pinned": before, "now": values, "now − pinned": values - before}
        else:
            columns |= {str(name): values, f"{name}, pinned": before, f"{name}, now − pinned": values - before}
    table = pd.DataFrame(columns)
    table.index.name = now.index.name
    return table


def draw_table(table: Table[S], scene: Scene[S]) -> pd.DataFrame:
    """What a table shows of a scene."""
    pinned = None if scene.pinned is None or not table.compares else table.frame(scene.pinned)
    return compare_tables(table.frame(scene.now), pinned)


def scene_table(chart: Chart[S], scene: Scene[S]) -> pd.DataFrame:
    """A chart's table, with the pinned numbers and differences."""
    return draw_table(Table[S](key=chart.key, frame=chart.table or (lambda _: pd.DataFrame())), scene)


def join_sentences(*sentences: str) -> str:
    """A caption of sentences, some of them empty."""
    return " ".join(filter(None, (each.strip() for each in sentences)))


def find_places(axis: Axis[S], subject: S, size: int) -> tuple[str, Mapping[int, int]] | None:
    """The place of an axis, and Plotly's cell → its number."""
    if not axis.place:
        return None
    numbers = range(size) if axis.numbers is None else axis.numbers(subject)
    first = axis.first if axis.names is None else 0
    return axis.place, {first + cell: number for cell, number in enumerate(numbers) if number is not None}
