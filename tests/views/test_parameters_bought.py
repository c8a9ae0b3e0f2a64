"""The chart of what parameters buy: a dot for each shipped encoder, that of the sidebar marked."""

import plotly.graph_objects as go

from playground.charts.draw import draw_chart
from playground.charts.scene import Scene
from playground.language.family import change, is_shipped, shipped_specs
from playground.presets import PRESETS
from playground.views.parameters_bought import show_by_parameters


def test_the_dots_are_the_shipped_encoders_and_the_sidebars_is_red() -> None:
    for config, marked in ((change(positions="none").config, ["no positions"]), (PRESETS["minilm-l6"].config, [])):
        drawn = draw_chart(show_by_parameters(config), Scene(None)).now
        (dots,) = go.Figure(drawn.figure).data
        assert len(dots.x) == sum(map(is_shipped, shipped_specs()))
        assert 1_000 < dots.x.min() < dots.x.max() < 1_000_000
        red = [name for name, colour in zip(dots.customdata, dots.marker.color, strict=True) if colour == "#e5174b"]
        assert red == marked
