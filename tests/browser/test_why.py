"""Why a token looks there, in a browser: a click on a cell's step, and on a head's row."""

from itertools import pairwise

from playwright.sync_api import FloatRect, expect

from tests.browser.visitor import Visitor


def test_a_step_is_painted_and_a_head_that_links_opens(visitor: Visitor) -> None:
    visitor.open("/attention")
    visitor.open_panel("attention_steps")
    expect(visitor.widget("why_key_sources").locator(".bar").first).to_be_visible()
    visitor.choose("attention_why", "products")
    expect(visitor.widget("why_products").locator(".bar").first).to_be_visible()
    expect(visitor.widget("why_key_sources")).to_have_count(0)
    visitor.eventually(lambda: visitor.query().get("attention_why") == ["products"], "the step in the link")

    visitor.settled()
    row = visitor.widget("linking_heads")
    expect(row.get_by_role("button", name="Layer 3, head 1")).to_be_disabled()
    row.get_by_role("button", name="Layer 5, head 11").click()
    visitor.eventually(lambda: visitor.query().get("layer") == ["5"], "the pressed head's layer in the link")
    expect(visitor.widget("answer")).to_contain_text("layer 5, head 11")
    expect(visitor.settled().widget("attention_pattern")).to_contain_text("layer 5, head 11")


def test_a_new_text_opens_on_its_pronoun_also_after_a_click_on_a_special_token(visitor: Visitor) -> None:
    visitor.open("/attention")
    visitor.click_cell("attention_pattern", 15, 0)
    visitor.eventually(lambda: visitor.query().get("query") == ["15"], "[SEP] in the link")
    visitor.settled().type_text("The trophy does not fit in the suitcase because it is too big.")
    expect(visitor.widget("answer")).to_contain_text("it₁₀ attends most to trophy₂")
    assert visitor.settled().focused()["query"] == 10


def test_a_click_on_a_row_opens_its_head(visitor: Visitor) -> None:
    visitor.open("/attention?attention_view=heads+that+link")
    table = visitor.widget("heads_that_link").locator(".stDataFrameGlideDataEditor").first
    expect(table).to_be_visible()
    table.scroll_into_view_if_needed()
    table.click(position={"x": 300, "y": 86})  # a cell of the second row
    visitor.eventually(lambda: visitor.query().get("layer") == ["5"], "the second head's layer in the link")
    assert visitor.settled().query()["head"] == ["11"]
    expect(visitor.widget("attention_pattern")).to_contain_text("layer 5, head 11")
    expect(visitor.widget("why")).to_contain_text("Why does")


def test_a_rival_is_in_the_link_and_a_test_of_the_answer_opens(visitor: Visitor, classmate: Visitor) -> None:
    visitor.open("/attention")
    visitor.widget("attention_rival_menu").locator("input").click()
    visitor.page.get_by_role("option", name="street₈", exact=True).click()
    visitor.eventually(lambda: visitor.query().get("attention_rival") == ["8"], "the rival in the link")
    expect(visitor.widget("why_parts")).to_contain_text("to the left street₈")
    address = visitor.settled().widget("why_test").locator("a").first.get_attribute("href")
    assert address is not None
    classmate.open(f"/{address.rpartition('/')[2]}")
    assert classmate.focused() == {"layer": 3, "head": 1, "query": 10, "key": 8}
    expect(classmate.widget("why")).to_contain_text("minus that of street₂")
    assert "b_text" in classmate.query()


def test_on_a_laptop_the_answer_is_beside_the_map_and_moves_nothing(visitor: Visitor) -> None:
    visitor.open("/attention?query=10&key=2")
    cell, answer = visitor.place_of_cell("attention_pattern", 10, 2), box(visitor, "why")
    assert answer["x"] > cell[0]
    for key in ("why", "why_parts"):
        expect(visitor.widget(key)).to_be_in_viewport(ratio=1)
    thumbnails, length = box(visitor, "attention_grid"), len(visitor.widget("why").inner_text())
    visitor.click_cell("attention_pattern", 1, 8)
    visitor.eventually(lambda: visitor.query().get("key") == ["8"], "the clicked cell in the link")
    visitor.settled()
    assert len(visitor.widget("why").inner_text()) != length
    assert box(visitor, "attention_grid") == thumbnails


def test_on_a_phone_the_answer_is_below_the_map(phone: Visitor) -> None:
    phone.open("/attention")
    assert box(phone, "attention_pattern")["y"] < 0.8 * 844, "the picture begins in the first window"
    phone.open_panel("attention_steps")
    names = ("attention_pattern", "linking_heads", "why", "why_tests", "attention_grid", "why_key_sources")
    boxes = [box(phone, name) for name in names]
    for above, below in pairwise(boxes):
        assert below["y"] >= above["y"] + above["height"]
    assert max(each["x"] + each["width"] for each in boxes) <= 390


def box(visitor: Visitor, name: str) -> FloatRect:
    """Where a container is in the window, and how large."""
    found = visitor.widget(name).bounding_box()
    assert found
    return found
