"""Shares of hidden words that encoders of the small English get right, by capability, and their table.

Legend: R encoders; S seeds; C capabilities.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from playground.charts.chart import Axis, Heatmap
from playground.charts.colour_scales import Colours
from playground.charts.figure import Array
from playground.charts.scene import Scene
from playground.language.capabilities import CAPABILITIES
from playground.language.family import seeds_of
from playground.language.network import Spec
from playground.words import say

GUESSING, CHANCE = 0.6, 0.5
"""A share up to the first is called no better than guessing, which gets the second: two words are always possible."""

TITLES = tuple(capability.title for capability in CAPABILITIES.values())
"""The capabilities' titles, in the order of the columns."""


@dataclass(frozen=True, eq=False)
class CapabilityShares:
    """The shares right of measured encoders."""

    names: tuple[str, ...]
    specs: tuple[Spec, ...]
    by_seed: tuple[Array, ...]
    """Of each encoder: (S, C)."""

    @cached_property
    def mean(self) -> Array:
        """The mean over the seeds: (R, C)."""
        return np.array([shares.mean(0) for shares in self.by_seed])

    @cached_property
    def low(self) -> Array:
        """The worst seed: (R, C)."""
        return np.array([shares.min(0) for shares in self.by_seed])

    @cached_property
    def high(self) -> Array:
        """The best seed: (R, C)."""
        return np.array([shares.max(0) for shares in self.by_seed])

    def write(self, row: int, column: int) -> str:
        """Return a cell's mean with the range of its seeds, such as `0.90 (0.89–0.91)`."""
        return f"{self.mean[row, column]:.2f} ({self.low[row, column]:.2f}–{self.high[row, column]:.2f})"

    def average(self, row: int) -> tuple[float, float, float]:
        """Return the mean over all capabilities, and those of the worst and the best seed."""
        averages = self.by_seed[row].mean(1)
        return float(averages.mean()), float(averages.min()), float(averages.max())

    def write_average(self, row: int) -> str:
        """Return the mean over all capabilities with its range, such as `86.2% (85.9%–86.6%)`."""
        mean, low, high = self.average(row)
        return f"{mean:.1%} ({low:.1%}–{high:.1%})"


def read_shares(named: Mapping[str, Spec]) -> Scene[CapabilityShares]:
    """Return the shares of those encoders, by name, that were measured."""
    rows = {name: seeds_of(spec) for name, spec in named.items()}
    rows = {name: each for name, each in rows.items() if each}
    by_seed = tuple(np.array([[row.shares[key] for key in CAPABILITIES] for row in each]) for each in rows.values())
    return Scene(CapabilityShares(tuple(rows), tuple(named[name] for name in rows), by_seed))


def capability_table(key: str, place: str, chosen: Mapping[str, int], about: str) -> Heatmap[CapabilityShares]:
    """Return the mean share right of every encoder and capability, with the chosen cell, by its parameters, framed."""

    def write_cells(shares: CapabilityShares) -> pd.DataFrame:
        cells = [[shares.write(row, column) for column in range(len(TITLES))] for row in range(len(shares.names))]
        return pd.DataFrame(cells, pd.Index(shares.names, name="encoder"), pd.Index(TITLES))

    return Heatmap(
        key=key,
        alt=say("parts", "table.alt"),
        caption=say("parts", "table.caption", about=about, grey=f"{GUESSING:.2f}", chance=f"{CHANCE:.2f}"),
        values=lambda shares: shares.mean,
        shown=lambda shares: shares.mean.round(2) > GUESSING,
        rows=Axis("", lambda shares: list(shares.names), place=place, options={"dtick": 1}),
        columns=Axis("", lambda _: TITLES, place="parts_column", options={"side": "top", "dtick": 1}),
        chosen=dict(chosen),
        click=say("parts", "table.click"),
        bar="",
        hover="%{y}, %{x}",
        more="more right answers",
        opens="parts_cell",
        number=".2f",
        written=".2f",
        colours=lambda _: Colours({"zmin": CHANCE, "zmax": 1}),
        gap=1,
        height_of=lambda n_rows: 96 + 22 * n_rows,
        least_cell=46,
        table=write_cells,
        table_title=say("parts", "table.numbers"),
        compares=False,
    )
