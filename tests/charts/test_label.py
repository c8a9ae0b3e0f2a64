"""What a chart's label says of it to whoever cannot see it."""

import numpy as np
import plotly.graph_objects as go
import pytest

from playground.charts.label import chart_label
from playground.figures import attention, norms

TOKENS = ["[CLS]", "<b>", "it"]
WEIGHTS = np.array([[0.25, 0.5, 0.25], [0.9, 0.1, 0], [0.2, 0.2, 0.6]], np.float32)
ALL = np.ones((3, 3), bool)


@pytest.mark.parametrize(
    ("figure", "said"),
    [
        (attention.head_heatmap(WEIGHTS, TOKENS, ALL), ["0.9", "<b>₁", "[CLS]₀"]),
        (go.Figure(go.Bar(x=["a", "&lt;b&gt;"], y=[1, 3], name="moved")), ["moved: the longest bar is 3, at <b>."]),
        (norms.norms_by_layer({"residual": WEIGHTS.T * 2000}), ["from 900 at 0 to 567 at 2"]),
        (attention.head_grid(np.stack([np.eye(3), ALL / 3])[None]), ["head 0 gives", "head 1 spreads"]),
    ],
)
def test_a_label_says_what_is_largest_and_where(figure: go.Figure, said: list[str]) -> None:
    label = chart_label("Its name.", figure)
    assert label.startswith("Its name. ")
    assert all(part in label for part in said), label


def test_a_label_adds_nothing_to_a_mask_nor_to_numbers_that_are_none() -> None:
    mask = go.Heatmap(z=ALL.astype(np.uint8), zmin=0, zmax=1)
    assert chart_label("Mask", go.Figure(mask)) == "Mask."
    nothing = attention.head_heatmap(np.full((3, 3), np.nan, np.float32), TOKENS, ALL)
    assert chart_label("Pattern", nothing) == "Pattern."


def test_a_label_of_many_lines_says_how_many_it_leaves_out() -> None:
    lines = go.Figure([go.Scatter(y=[1, 2, n], name=str(n)) for n in range(3, 13)])
    label = chart_label("Ten", lines)
    assert "10: from 1 at 0 to 10 at 2" in label
    assert "11: from" not in label
    assert label.endswith("2 more are drawn.")
