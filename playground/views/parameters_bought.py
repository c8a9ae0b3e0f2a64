"""What parameters buy: the share of hidden words that encoders of the small English get right, against their size."""

from typing import Any

import numpy as np
import pandas as pd

from playground.accounting import count_parameters
from playground.charts import figure as figures
from playground.charts import palette
from playground.charts.chart import Picture
from playground.charts.figure import Figure
from playground.config import ModelConfig
from playground.language.family import is_shipped, shipped_specs, table
from playground.language.network import Spec
from playground.language.text import VOCABULARY
from playground.text.wording import count_noun
from playground.views.parts import name_spec


def show_by_parameters(config: ModelConfig) -> Picture[Any]:
    """A dot for each shipped encoder, parameters across, mean share right up; that of this architecture marked."""
    specs = [spec for spec in shipped_specs() if is_shipped(spec)]
    frame = pd.DataFrame(
        {
            "parameters": [count_parameters(spec.config).total for spec in specs],
            "mean share right": [np.mean(list(table()[spec.key].shares.values())) for spec in specs],
        },
        pd.Index([name_spec(spec) for spec in specs], name="encoder"),
    )
    return Picture(
        key="capability_by_parameters",
        alt=f"{count_noun(len(specs), 'encoder')}: parameters across, mean share of right words up",
        caption="A dot is an encoder that comes with the playground: its parameters, and its mean share right over "
        "the ten capabilities. The sidebar's is red. Hover over a dot for its name.",
        figure=lambda _: _draw_dots(frame, name_spec(Spec(config)) if config.vocab_size == len(VOCABULARY) else ""),
        table=lambda _: frame,
        compares=False,
    )


def _draw_dots(frame: pd.DataFrame, chosen: str) -> Figure:
    dots = {
        "type": "scatter",
        "mode": "markers",
        "x": frame["parameters"].to_numpy(),
        "y": frame["mean share right"].to_numpy(),
        "customdata": list(frame.index),
        "marker": {
            "size": 9,
            "color": [palette.FOCUS if name == chosen else palette.ATTENTION for name in frame.index],
        },
        "hovertemplate": "%{customdata}<br>%{x:,} parameters, %{y:.2f} right<extra></extra>",
    }
    ticks = {"tickvals": [3_000, 10_000, 30_000, 100_000, 300_000], "tickformat": ","}
    x_axis = {"title": "parameters (log scale)", "type": "log", **ticks}
    return figures.style([dots], {"xaxis": x_axis, "yaxis": {"title": "mean share right"}}, height=380)
