"""Cells of a heatmap as vectors, in few bytes. Legend: R rows, C columns.

A rectangle a cell would be 60 bytes as drawing libraries write it: 70 MB for 72 heads of 128 tokens. Here the cells of
one shade are one path, and up to MOST_RECTANGLES cells are a rectangle each, `M3 5h1v1h-1z`.

Of more cells, those that lie in one column below each other become runs: lines as wide as a cell, `m0 3v2`. A run may
go on below darker cells, which are painted over it, for shades are painted from the lightest to the darkest. Of more
than MOST_EXACT cells, a run also takes in neighbours whose shade is within NEAR of its own.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_RECTANGLES = 4_096
MOST_EXACT = 70_000
"""More than a heatmap of 256 × 256 has."""
NEAR = 2
"""Of 255 shades: as far as a value lies from the nearest of 64 levels."""

Shades = NDArray[np.int16]
"""(R, C): 0 … 255, or −1 where there is no cell."""


@dataclass(frozen=True)
class Runs:
    """Cells of one shade below each other: of each run its shade, its column, its first row and its length: (n,)."""

    shade: NDArray[np.int16]
    column: NDArray[np.intp]
    start: NDArray[np.intp]
    length: NDArray[np.intp]


def shades_of(z: NDArray[Any], low: float, high: float) -> Shades:
    """Numbers (R, C) as shades: `low` is 0, `high` is 255, NaN is −1."""
    width = high - low if high > low else 1.0
    shades: Shades = np.empty(z.shape, np.int16)
    for row, numbers in zip(shades, z, strict=True):  # row by row: numbers of 64 bits take four times the memory
        places = np.clip((numbers.astype(np.float64) - low) / width, 0, 1)
        row[:] = np.where(np.isfinite(places), np.round(255 * places), -1)
    return shades


def path_of_cells(shades: Shades, ramp: NDArray[np.uint8], gaps: tuple[float, float] = (0, 0)) -> str:
    """SVG paths of cells, in a coordinate system whose unit is a cell, with (0, 0) at the corner of the first.

    Shades are (R, C), the ramp (256, 3). `gaps` are left free between columns and between rows, as shares of a cell.
    """
    if shades.size <= MOST_RECTANGLES or any(gaps):
        return _rectangles(shades, ramp, gaps)
    runs = cover_cells(shades, 0 if shades.size <= MOST_EXACT else NEAR)
    order = np.lexsort((runs.start, runs.column, runs.shade))
    shade, column, start, length = (
        part[order] for part in (runs.shade, runs.column.astype(int), runs.start, runs.length)
    )
    ends = start + length  # where the pen is after a run
    new = np.diff(shade, prepend=-1) != 0
    right = np.where(new, column, np.diff(column, prepend=0)).tolist()
    down = np.where(new, start, start - np.append(0, ends)[:-1]).tolist()
    strokes = [
        f"m{x}{y}v{n}" if y < 0 else f"m{x} {y}v{n}" for x, y, n in zip(right, down, length.tolist(), strict=True)
    ]
    firsts = [*np.flatnonzero(new).tolist(), len(strokes)]
    paths = [
        f'<path stroke="{_hex(ramp[shade[first]])}" d="{"".join(strokes[first:last])}"/>'
        for first, last in pairwise(firsts)
    ]
    return f'<g transform="translate(.5 0)" fill="none" stroke-width="1">{"".join(paths)}</g>'


def _rectangles(shades: Shades, ramp: NDArray[np.uint8], gaps: tuple[float, float]) -> str:
    """A rectangle a cell, a path a shade."""
    width, height = (f"{1 - gap:.3g}" for gap in gaps)
    left, top = (gap / 2 for gap in gaps)
    paths = []
    for shade in np.unique(shades[shades >= 0]).tolist():
        rows, columns = np.nonzero(shades == shade)
        cells = "".join(
            f"M{x:g} {y:g}h{width}v{height}h-{width}z"
            for x, y in zip((columns + left).tolist(), (rows + top).tolist(), strict=True)
        )
        paths.append(f'<path fill="{_hex(ramp[shade])}" d="{cells}"/>')
    return "".join(paths)


def _hex(colour: NDArray[np.uint8]) -> str:
    return "#" + bytes(colour.tolist()).hex()


def cover_cells(shades: Shades, near: int) -> Runs:
    """Runs that cover all cells where they are painted from the lowest shade up; none differs by more than `near`.

    All columns are walked through at once, from the first row down. Each has a stack of runs that have not ended: each
    darker than the one below, which it is painted over.
    """
    n_rows, n_columns = shades.shape
    best = _middles(shades, 2 * near)
    depth = np.zeros(n_columns, np.intp)
    everywhere = np.arange(n_columns)
    stack = np.full((n_columns, n_rows + 2), -1, np.int16)  # the lowest shade of each stack is no cell
    begun = np.zeros((n_columns, n_rows + 2), np.intp)
    ended: list[tuple[NDArray[Any], ...]] = []
    for row in range(n_rows + 1):
        # A row of no cells ends them all.
        cells = shades[row] if row < n_rows else np.full(n_columns, -1, np.int16)
        highest = np.where(cells < 0, -1, cells + near)
        columns = everywhere[stack[everywhere, depth] > highest]
        while columns.size:
            top = depth[columns]
            starts = begun[columns, top]
            ended.append((stack[columns, top], columns, starts, row - starts))
            depth[columns] -= 1
            columns = columns[stack[columns, depth[columns]] > highest[columns]]
        lowest = np.where(cells < 0, -1, np.maximum(cells - near, 0))
        columns = everywhere[stack[everywhere, depth] < lowest]
        depth[columns] += 1
        stack[columns, depth[columns]] = best[row, columns] if row < n_rows else -1
        begun[columns, depth[columns]] = row
    if not ended:
        nothing = np.zeros(0, np.intp)
        return Runs(nothing.astype(np.int16), nothing, nothing, nothing)
    return Runs(*(np.concatenate(parts) for parts in zip(*ended, strict=True)))


def _middles(shades: Shades, spread: int) -> Shades:
    """For each cell the shade in the middle of its stretch: cells of a column that differ by at most `spread`."""
    if spread == 0:
        return shades
    low, high = shades.copy(), shades.copy()
    begins = np.ones(shades.shape, bool)
    for row in range(1, len(shades)):
        np.minimum(low[row - 1], shades[row], out=low[row])
        np.maximum(high[row - 1], shades[row], out=high[row])
        begins[row] = (high[row] - low[row] > spread) | ((shades[row] < 0) != (shades[row - 1] < 0))
        low[row, begins[row]] = high[row, begins[row]] = shades[row, begins[row]]
    for row in range(len(shades) - 2, -1, -1):
        goes_on = ~begins[row + 1]
        low[row, goes_on], high[row, goes_on] = low[row + 1, goes_on], high[row + 1, goes_on]
    middles: Shades = (low + high) // 2
    return middles
