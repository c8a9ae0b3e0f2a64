"""A student compares sentences: the example, a list of their own, a pair by mouse, keyboard, table and finger."""

from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import Position, expect

from playground.views.similarity.sentences import EXAMPLE
from tests.browser.visitor import Visitor

HEADER = 35
"""Pixels of a table's header."""

SMALL = "weights=random&tokenizer=char&d_model=16&n_heads=4&n_layers=2&d_ff=32&text=a+cat%0Aa+dog%0Atwo+cats"


def pair(visitor: Visitor) -> tuple[int, int]:
    """The numbers of the sentences that the two lists show."""
    lists = (visitor.widget(f"similarity_{name}_choice").locator("input") for name in ("first", "second"))
    first, second = (int(each.input_value().split(" · ")[0]) for each in lists)
    return first, second


def choose_by(visitor: Visitor, act: Callable[[], None], wanted: tuple[int, int]) -> None:
    act()
    visitor.eventually(lambda: pair(visitor) == wanted, f"the pair {wanted}")
    visitor.settled()
    x, y = visitor.place_of_cell("similarity_matrix", wanted[0] - 1, wanted[1] - 1)
    assert visitor.framed("similarity_matrix") == pytest.approx((x, y), abs=3)
    parts = visitor.array("similarity_tokens").sum()
    assert parts == pytest.approx(visitor.array("similarity_matrix")[wanted[0] - 1, wanted[1] - 1], abs=1e-4)


def test_a_pair_is_chosen_in_the_matrix_by_keys_and_in_the_list_and_travels(
    visitor: Visitor, classmate: Visitor
) -> None:
    visitor.open("/similarity?similarity_closer=true&similarity_ranking=true")
    assert visitor.array("similarity_matrix").shape == (10, 10)
    drawing = visitor.widget("similarity_matrix_chart")
    title, bar = (drawing.locator(f".colorbar {part}").bounding_box() for part in (".cbtitle", ".cbfills"))
    assert title is not None
    assert bar is not None
    assert title["y"] + title["height"] <= bar["y"], "the bar's name stands above the bar"
    expect(drawing.locator(".heatmap-label text").first).to_be_visible()  # where it fits in 11 pixels or more
    choose_by(visitor, lambda: visitor.click_cell("similarity_matrix", 3, 4), (4, 5))
    choose_by(visitor, lambda: visitor.page.keyboard.press("ArrowRight"), (4, 6))
    table = visitor.widget("similarity_pairs").locator(".stDataFrameGlideDataEditor").first
    first_row: Position = {"x": 30, "y": 1.5 * HEADER}  # below the header
    table.hover(position=first_row)
    visitor.page.wait_for_timeout(300)  # the table has to see the pointer before the click
    choose_by(visitor, lambda: table.click(position=first_row), (7, 8))
    visitor.widget("similarity_fill").get_by_role("button").click()
    field = visitor.widget("similarity_list").locator("textarea")
    expect(field).to_have_value("\n".join(EXAMPLE))
    visitor.eventually(lambda: "similarity_list" in visitor.query(), "the list in the link")
    visitor.choose("similarity_view", "leave a word out")
    expect(visitor.widget("similarity_left_out_second")).to_contain_text("Sentence 8 without")
    theirs = classmate.open(visitor.settled().copied_link())
    assert theirs.charts() == visitor.charts()
    assert pair(theirs) == (7, 8)


def test_the_map_of_depths_keeps_its_axes_while_the_slider_moves(visitor: Visitor) -> None:
    visitor.open(f"/similarity?{SMALL}&similarity_view=map+by+depth")
    ranges = "chart => ['xaxis', 'yaxis'].map(name => chart._fullLayout[name].range)"
    drawing = visitor.widget("similarity_map_chart").locator(".js-plotly-plot")
    before, dots = drawing.evaluate(ranges), visitor.array("similarity_map", -1, "x")
    visitor.press("similarity_depth", "ArrowLeft")
    visitor.eventually(lambda: visitor.query().get("similarity_depth") == ["1"], "the depth in the link")
    assert np.abs(visitor.settled().array("similarity_map", -1, "x") - dots).max() > 1e-3
    np.testing.assert_allclose(drawing.evaluate(ranges), before)


def test_a_finger_chooses_a_pair(phone: Visitor) -> None:
    phone.open(f"/similarity?{SMALL}&similarity_closer=true")
    choose_by(phone, lambda: phone.tap_cell("similarity_matrix", 2, 0), (3, 1))

    def tap_in_list() -> None:
        phone.widget("similarity_second_choice").locator("input").tap()
        phone.page.get_by_role("option", name="2 · a dog").tap()

    choose_by(phone, tap_in_list, (3, 2))
    assert phone.query()["similarity_first"] == ["3"]
    assert "similarity_second" not in phone.query(), "the link has numbers, and 2 is the default"
