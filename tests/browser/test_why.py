"""Why a token looks there, in a browser: a click on a cell's step, and on a head's row."""

from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.visitor import Visitor


def test_a_step_is_painted_and_in_the_link(visitor: Visitor) -> None:
    visitor.open("/attention")
    expect(visitor.widget("why_key_sources").locator(".bar").first).to_be_visible()
    visitor.choose("attention_why", "products")
    expect(visitor.widget("why_products").locator(".bars path").first).to_be_visible()
    expect(visitor.widget("why_key_sources")).to_have_count(0)
    assert visitor.query()["attention_why"] == ["products"]


def test_a_click_on_a_row_opens_its_head(visitor: Visitor) -> None:
    visitor.open("/attention?attention_view=heads+that+link")
    table = visitor.widget("heads_that_link").locator(".stDataFrameGlideDataEditor").first
    expect(table).to_be_visible()
    table.scroll_into_view_if_needed()
    table.click(position={"x": 16, "y": 86})  # the box at the left of the second row
    visitor.eventually(lambda: visitor.query().get("layer") == ["5"], "the second head's layer in the link")
    assert visitor.query()["head"] == ["11"]
    expect(visitor.widget("attention_pattern")).to_contain_text("layer 5, head 11")
    expect(visitor.widget("why")).to_contain_text("looks at")


def test_on_a_phone_the_panel_stacks(newcomer: Callable[..., Visitor]) -> None:
    phone = newcomer(390, 844, has_touch=True, is_mobile=True)
    phone.open("/attention")
    boxes = [phone.widget(name).bounding_box() for name in ("why_key_sources", "why_query_sources")]
    assert boxes[0]
    assert boxes[1]
    assert boxes[1]["y"] >= boxes[0]["y"] + boxes[0]["height"]
    assert boxes[1]["x"] + boxes[1]["width"] <= 390
