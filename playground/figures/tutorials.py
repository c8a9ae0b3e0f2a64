"""How far the tutorials' numbers lie apart, as pictures; both from 0, the same, to the largest difference."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from playground.figures.theme import colour_bar, style

Array = NDArray[np.float32]


def difference_matrix(differences: Array, letters: Sequence[str]) -> go.Figure:
    """Each tutorial against each other, the numbers written into the cells.

    Args:
        differences: (n, n), symmetric, 0 on the diagonal.
        letters: n names of tutorials.
    """
    return _heatmap(differences, letters, letters, texttemplate="%{z:.2f}", height=300, axes=("tutorial", "tutorial"))


def differences_by_point(differences: Mapping[str, Array], points: Sequence[str]) -> go.Figure:
    """A row a tutorial, a column a point of the forward pass, in the order of computation.

    Args:
        differences: by tutorial, (points,).
        points: names of points.
    """
    rows = np.stack(list(differences.values()))
    figure = _heatmap(rows, points, list(differences), height=300, axes=("point of the forward pass", "tutorial"))
    return figure.update_xaxes(
        tickvals=list(points), ticktext=[point.removeprefix("layers.") for point in points], tickangle=-55
    )


def _heatmap(
    values: Array, x: Sequence[str], y: Sequence[str], *, height: int, axes: tuple[str, str], texttemplate: str = ""
) -> go.Figure:
    figure = go.Figure(
        go.Heatmap(
            z=values,
            x=list(x),
            y=list(y),
            zmin=0,
            texttemplate=texttemplate,
            xgap=1,
            ygap=1,
            hovertemplate="%{y}, %{x}<br>largest difference %{z:.3g}<extra></extra>",
            colorbar=colour_bar("largest"),
        )
    )
    figure.update_xaxes(title=axes[0], type="category", showgrid=False, side="bottom")
    figure.update_yaxes(title=axes[1], type="category", showgrid=False, autorange="reversed")
    return style(figure, height=height)
