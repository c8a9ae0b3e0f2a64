"""The drawing of bars gets their numbers, and a label that says the longest."""

import json
import math

from streamlit.testing.v1 import AppTest

from playground.figures.attribution import Bars
from playground.web.components.charts import _describe_longest
from tests.web.app_test import drawn_bars, working


def test_bars_reach_the_browser_as_they_are_and_what_is_no_number_as_none() -> None:
    def script() -> None:
        from playground.figures.attribution import Bars
        from playground.web.components.charts import draw_bars

        bars = Bars(["<b>", "x", "y"], [0.5, -1.25, float("nan")], ["red", "blue", "blue"], ["a", "b", "–"], "part")
        draw_bars("some", bars, alt="Bars")

    app = working(AppTest.from_function(script).run())
    data = drawn_bars(app)["some"]
    assert data["values"] == [0.5, -1.25, None]
    assert data["labels"] == ["<b>", "x", "y"], "the browser puts them in as text"
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert data["alt"] == "Bars. The longest bar is b, at x."


def test_bars_without_a_number_have_no_longest() -> None:
    assert _describe_longest(Bars(["x"], [math.nan], [""], ["–"], "")) == ""
