"""What is asked of every figure: names of its axes and colours, the ends of its scale, harmless labels."""

from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
import pytest

from playground.figures import (
    attention,
    norms,
)
from playground.views.compare import differences_on_the_way

TOKENS = ["[CLS]", "<b>", "it", "it"]
LABELS = ["[CLS]₀", "&lt;b&gt;₁", "it₂", "it₃"]
WEIGHTS = np.array([[0.25, 0.5, 0.125, 0.125]] * 4, np.float32)
SIGNED = WEIGHTS * np.array([[-1], [1], [1], [1]], np.float32)
ALL = np.ones((4, 4), bool)
KEY, QUERY, POINT = "key: attended to", "query: who asks", "point of the forward pass"
W4 = WEIGHTS[0]
PARTS = dict.fromkeys(("residual", "attention", "feed-forward"), WEIGHTS)

CURVES: list[tuple[go.Figure, str | None, str | None]] = [
    (norms.norms_by_layer(PARTS), "blocks passed (0 = embeddings)", "mean L2 norm"),
    (norms.norms_by_layer(PARTS, PARTS, "<b>"), "blocks passed (0 = embeddings)", "mean L2 norm"),
    (go.Figure(differences_on_the_way(WEIGHTS[0], list("abcd"))), POINT, "largest difference (log scale)"),
]  # fmt: skip


class Map(NamedTuple):
    """A heatmap, and what is asked of it; `highest` is None where the largest number is the scale's end."""

    figure: go.Figure
    x: str
    y: str | None
    bar: str | None
    lowest: float | None
    highest: float | None


HEATMAPS = [
    Map(attention.head_grid(WEIGHTS[None, None]), "head", "layer", "weight", 0, 255),
    Map(attention.head_heatmap(WEIGHTS, TOKENS, ALL, scale=attention.SQUARE_ROOT), KEY, QUERY, "weight", 0, 1),
    Map(attention.head_heatmap(WEIGHTS, TOKENS, ALL), KEY, QUERY, "weight", 0, 0.5),
    Map(attention.head_heatmap(SIGNED, TOKENS, ALL, signed=True, bar="apart"), KEY, QUERY, "apart", -0.5, 0.5),
    Map(attention.moved_weight_grid(WEIGHTS), "head", "layer", "share", 0, None),
]  # fmt: skip
FIGURES = CURVES + [(each.figure, each.x, each.y) for each in HEATMAPS]


@pytest.mark.parametrize(("figure", "x", "y"), FIGURES)
def test_both_axes_have_their_names_and_a_zoom_outlives_a_rerun(figure: go.Figure, x: str, y: str | None) -> None:
    assert (figure.layout.xaxis.title.text, figure.layout.yaxis.title.text) == (x, y)
    assert figure.layout.uirevision == "keep"
    assert figure.layout.xaxis.automargin


@pytest.mark.parametrize("drawn", HEATMAPS)
def test_colours_mean_what_the_bar_says(drawn: Map) -> None:
    cells = drawn.figure.data[0]
    assert cells.colorbar.title.text == drawn.bar
    assert (cells.zmin, cells.zmax) == (drawn.lowest, drawn.highest)
    diverging = drawn.figure.layout.template.layout.colorscale.diverging
    assert (cells.colorscale == diverging) == (drawn.lowest is not None and drawn.lowest < 0)


def test_no_figure_holds_a_tag_that_somebody_typed() -> None:
    named = 0
    for figure, _, _ in FIGURES:
        axes = [
            [str(name) for name in trace[axis]] for trace in figure.data for axis in "xy" if trace[axis] is not None
        ]
        named += LABELS in axes
        assert not any("<b>₁" in name for names in axes for name in names)
        assert not [trace.name for trace in figure.data if "<b>" in (trace.name or "")]
    assert named == 3
