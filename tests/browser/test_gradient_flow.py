"""A student looks for the gradient: two lines, fewer layers, a sweep, and a link to all of it."""

from playwright.sync_api import expect

from tests.browser.visitor import Visitor

SHAPE = "weights=random&tokenizer=char&d_model=32&n_heads=4&d_ff=64&text=abcde"


def test_two_gradients_follow_the_sliders_and_travel(visitor: Visitor, classmate: Visitor) -> None:
    visitor.open(f"/gradient-flow?{SHAPE}&gradient_six=true")
    assert len(visitor.charts()["gradient_by_layer"]) == 2
    assert len(visitor.array("gradient_by_layer", name="y")) == 12
    expect(visitor.page.get_by_test_id("stMain")).to_contain_text("random weights")

    visitor.press("gradient_layers", "ArrowLeft", "ArrowLeft", "ArrowLeft", "ArrowLeft")
    visitor.eventually(lambda: visitor.query().get("gradient_layers") == ["8"], "eight layers in the link")
    assert len(visitor.settled().array("gradient_by_layer", name="y")) == 8

    visitor.choose("gradient_view", "depth sweep")
    expect(visitor.widget("gradient_by_depth_chart").locator(".main-svg").first).to_be_visible()
    assert list(visitor.settled().array("gradient_by_depth", name="x")) == [1, 2, 4, 8]

    theirs = classmate.open(visitor.copied_link())
    assert theirs.charts() == visitor.charts()
    assert set(theirs.charts()) == {"gradient_by_layer", "gradient_by_depth"}
