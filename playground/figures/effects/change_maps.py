"""What followed from changes of the computation: how far vectors have moved from those of the untouched run."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from playground.figures.heatmap import colour_bar, heatmap
from playground.figures.theme import token_labels
from playground.runs.arrays import Array


def vector_changes(relative: Array, tokens: Sequence[str]) -> go.Figure:
    """How far each token's vector has moved at each depth, (L + 1, T), in lengths of the vector before."""
    return heatmap(
        relative,
        "%{x} after %{y} blocks: moved by %{z:.3g} of its length",
        height=int(np.clip(170 + 26 * len(relative), 280, 620)),
        bar=colour_bar("moved by"),
        x=token_labels(tokens),
        y=np.arange(len(relative)),
        x_axis={"title": "token", "type": "category", "tickangle": -55},
        y_axis={"title": "blocks passed", "dtick": max(1, len(relative) // 8), "autorange": True},
        zmin=0,
    )
