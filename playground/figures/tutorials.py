"""How far the tutorials' numbers lie apart, as pictures; both from 0, the same, to the largest difference."""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from playground.figures.heatmap import colour_bar, heatmap
from playground.figures.theme import Array


def difference_matrix(differences: Array, letters: Sequence[str]) -> go.Figure:
    """Differences (n, n) of each tutorial from each other, written into the cells."""
    return _differences(differences, letters, letters, {"title": "tutorial"}, texttemplate="%{z:.2f}")


def differences_by_point(differences: Mapping[str, Array], points: Sequence[str]) -> go.Figure:
    """A row of differences (points,) a tutorial, a column a point of the forward pass, in the order of computation."""
    names = [point.removeprefix("layers.") for point in points]
    x_axis = {"title": "point of the forward pass", "tickvals": list(points), "ticktext": names, "tickangle": -55}
    return _differences(np.stack(list(differences.values())), points, list(differences), x_axis)


def _differences(
    values: Array, x: Sequence[str], y: Sequence[str], x_axis: Mapping[str, object], texttemplate: str = ""
) -> go.Figure:
    return heatmap(
        values,
        "%{y}, %{x}<br>largest difference %{z:.3g}",
        height=300,
        x=list(x),
        y=list(y),
        zmin=0,
        texttemplate=texttemplate,
        xgap=1,
        ygap=1,
        bar=colour_bar("largest"),
        x_axis={**x_axis, "type": "category", "side": "bottom"},
        y_axis={"title": "tutorial", "type": "category"},
    )
