"""How far the tutorials' numbers lie apart, as pictures; both from 0, the same, to the largest difference."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from playground.figures.heatmap import colour_bar, heatmap
from playground.figures.theme import Array, style


def difference_matrix(differences: Array, letters: Sequence[str]) -> go.Figure:
    """Differences (n, n) of each tutorial from each other, written into the cells."""
    return _differences(differences, letters, letters, "tutorial", texttemplate="%{z:.2f}")


def differences_by_point(differences: Mapping[str, Array], points: Sequence[str]) -> go.Figure:
    """A row of differences (points,) a tutorial, a column a point of the forward pass, in the order of computation."""
    rows = np.stack(list(differences.values()))
    figure = _differences(rows, points, list(differences), "point of the forward pass")
    return figure.update_xaxes(
        tickvals=list(points), ticktext=[point.removeprefix("layers.") for point in points], tickangle=-55
    )


def _differences(
    values: Array, x: Sequence[str], y: Sequence[str], x_title: str, *, texttemplate: str = ""
) -> go.Figure:
    figure = heatmap(
        values,
        "%{y}, %{x}<br>largest difference %{z:.3g}",
        x=list(x),
        y=list(y),
        zmin=0,
        texttemplate=texttemplate,
        xgap=1,
        ygap=1,
        bar=colour_bar("largest"),
        x_axis={"title": x_title, "type": "category", "side": "bottom"},
        y_axis={"title": "tutorial", "type": "category"},
    )
    return style(figure, height=300)
