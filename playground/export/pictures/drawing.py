"""What a picture consists of besides what matplotlib has drawn already."""

from dataclasses import dataclass, field

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation
from numpy.typing import NDArray

from playground.export.pictures.cells import Shades


@dataclass(frozen=True)
class NameInBar:
    """Words inside a bar, which are left out where the bar turns out to be smaller."""

    axes: Axes
    text: Annotation
    ends: tuple[tuple[float, float], tuple[float, float]]
    """The bar's lower left and upper right corner, in the axes' numbers."""


@dataclass(frozen=True)
class Cells:
    """The cells of one heatmap, which an SVG takes as paths."""

    axes: Axes
    shades: Shades
    ramp: NDArray[np.uint8]
    ends: tuple[float, float]
    """The numbers of the first and the last shade."""
    gaps: tuple[float, float]
    """Between columns and rows, as shares of a cell."""
    edges: tuple[float, float, float, float]
    """Of the first column and row, and of the last, in the axes' numbers: left, right, first, last."""

    def colours(self) -> NDArray[np.uint8]:
        """Red, green, blue and opacity of every cell, (R, C, 4), in 0 … 255; no cell is transparent."""
        rgba = np.zeros((len(self.ramp) + 1, 4), np.uint8)  # the last, as the shade −1 has it, is no cell
        rgba[:-1, :3] = self.ramp
        rgba[:-1, 3] = 255
        return rgba[self.shades]


@dataclass
class Drawing:
    """A figure on paper."""

    paper: Figure
    cells: list[Cells] = field(default_factory=list)
    """Of heatmaps; they are not painted yet."""
    inside: list[NameInBar] = field(default_factory=list)
