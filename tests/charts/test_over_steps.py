"""Curves over the steps of a training."""

import numpy as np
import plotly.graph_objects as go

from playground.charts import over_steps


def test_curves_over_steps_have_room_for_the_whole_training_and_its_last_label() -> None:
    line = over_steps.level_line(500, 0.25, "simple rule", dash="dot")
    figure = go.Figure(over_steps.draw_over_steps([line], 500, {"title": "loss"}, height=190))
    assert (figure.data[0].text[-1], figure.data[0].line.dash, figure.data[0].showlegend) == (
        "simple rule",
        "dot",
        False,
    )
    np.testing.assert_array_equal(figure.data[0].y, [0.25, 0.25])
    assert figure.layout.xaxis.range[0] < 0 < 500 < figure.layout.xaxis.range[1]
    assert (figure.layout.margin.r, figure.layout.height) == (over_steps.LAST_LABEL, 190)
