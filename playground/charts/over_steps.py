"""Curves over the steps of a training."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from playground.charts import palette
from playground.charts.figure import Array, Figure, style

LAST_LABEL = 22
"""Pixels for half of the last step's number."""


def step_line(steps: NDArray[Any], values: Array, name: str, look: Mapping[str, Any], hover: str) -> dict[str, Any]:
    """A curve over steps; `look` is its line's, `hover` says a point."""
    return {
        "type": "scatter",
        "mode": "lines",
        "x": steps,
        "y": values,
        "name": name,
        "line": look,
        "hovertemplate": f"{hover}<extra>{name}</extra>",
    }


def level_line(steps: int, value: float, text: str, *, width: float = 1.5, dash: str = "dash") -> dict[str, Any]:
    """A line across all steps, with its meaning at its right end."""
    return {
        "type": "scatter",
        "mode": "lines+markers+text",
        "marker": {"size": 8, "opacity": 0},  # keeps the text off the line
        "x": np.array([0, steps], np.int32),
        "y": np.array([value, value], np.float32),
        "line": {"color": palette.RESIDUAL, "width": width, "dash": dash},
        "text": ["", text],
        "textposition": "top left",
        "hoverinfo": "skip",
        "showlegend": False,
    }


def draw_over_steps(
    lines: list[dict[str, Any]], steps: int, y_axis: Mapping[str, Any], *, height: int, legend: bool = False
) -> Figure:
    """Growing curves over an axis as long as the whole training."""
    x_axis = {"title": "step", "range": [-0.01 * steps, 1.01 * steps], "zeroline": False}
    return style(lines, {"xaxis": x_axis, "yaxis": y_axis}, height=height, legend=legend, margin={"r": LAST_LABEL})
