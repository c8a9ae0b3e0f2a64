"""A student looks for the gradient: six lines, more layers, a larger scale, a sweep, and a link to all of it."""

import numpy as np
from playwright.sync_api import expect

from tests.browser.visitor import Visitor

SHAPE = "weights=random&tokenizer=char&d_model=32&n_heads=4&d_ff=64&text=abcde"


def lines(visitor: Visitor, chart: str = "gradient_six_by_layer") -> int:
    """How many lines a chart has, the one that only explains the dash left out."""
    return sum(trace["mode"] == "lines+markers" for trace in visitor.charts().get(chart, []))


def test_six_gradients_follow_the_sliders_and_travel(visitor: Visitor, classmate: Visitor) -> None:
    visitor.open(f"/gradient-flow?{SHAPE}&gradient_six=true")
    assert lines(visitor) == lines(visitor, "gradient_lengths") == 6
    assert lines(visitor, "gradient_by_layer") == 2
    assert len(visitor.array("gradient_by_layer", name="y")) == 12
    expect(visitor.page.get_by_test_id("stMain")).to_contain_text("random weights")
    expect(visitor.widget("gradient_summary")).to_contain_text("arrives")
    before = visitor.array("gradient_by_layer", name="y")

    visitor.press("gradient_layers", "ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowLeft")
    visitor.eventually(lambda: visitor.query().get("gradient_layers") == ["8"], "eight layers in the link")
    assert len(visitor.settled().array("gradient_by_layer", name="y")) == 8
    visitor.press("gradient_scale", "ArrowRight")
    visitor.eventually(lambda: visitor.query().get("gradient_scale") == ["1.4"], "the scale in the link")
    after = visitor.settled().array("gradient_by_layer", name="y")
    assert np.abs(after / before[:8] - 1).max() > 0.01

    visitor.choose("gradient_view", "depth sweep")
    expect(visitor.widget("gradient_by_depth_chart").locator(".main-svg").first).to_be_visible()
    visitor.settled().choose("gradient_of", "norms")
    visitor.eventually(lambda: lines(visitor) == 4, "the norms' own gradients")
    visitor.settled()
    assert list(visitor.array("gradient_by_depth", name="x")) == [1, 2, 4, 8]
    own = {"gradient_layers": "8", "gradient_scale": "1.4", "gradient_of": "norms", "gradient_view": "depth sweep"}
    own["gradient_six"] = "true"
    assert {key: visitor.query()[key] for key in own} == {key: [value] for key, value in own.items()}

    theirs = classmate.open(visitor.copied_link())
    assert theirs.charts() == visitor.charts()
    assert set(theirs.charts()) == {
        "gradient_by_layer", "gradient_six_by_layer", "gradient_lengths", "gradient_by_depth",
    }  # fmt: skip


def test_what_leaves_32_bit_floats_is_marked(visitor: Visitor) -> None:
    visitor.open(f"/gradient-flow?{SHAPE}&gradient_layers=48&gradient_scale=4.0")  # a link opens the panel
    expect(visitor.widget("gradient_summary")).to_contain_text("not a number")
    expect(visitor.widget("gradient_six_by_layer_chart").locator(".main-svg", has_text="NaN").first).to_be_visible()
