"""Layer, head, query and key are one selection of every page and of the link; changes are chips beside it."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from playground.link.params import DEFAULT_TEXT
from playground.link.query import VERSION
from playground.runs.encoder_run import Run, run
from playground.weights.checkpoint import load
from tests.browser.visitor import Visitor

ROW = 35
"""Pixels of a table's row."""


@pytest.fixture(scope="module")
def trained() -> Run:
    """The trained model's run of the default text, computed here."""
    encoder, tokenizer = load("minilm")
    return run(encoder, tokenizer.encode_batch([DEFAULT_TEXT]))


def position(label: str) -> int:
    """Where a token is, by its name in a chart."""
    return int(re.search(r"[₀-₉]+$", label)[0].translate({0x2080 + digit: str(digit) for digit in range(10)}))  # type: ignore[index]


def assert_frame_over(visitor: Visitor, chart: str, row: int | None, column: int | None) -> None:
    place = visitor.place_of_head if chart == "attention_grid" else visitor.place_of_cell
    wanted = place(row, column, chart)  # which scrolls there
    assert visitor.framed(chart) == pytest.approx(wanted, abs=3)


def test_a_clicked_cell_is_the_focus_of_every_page_and_of_the_link(
    visitor: Visitor, classmate: Visitor, trained: Run
) -> None:
    visitor.open("/attention")
    assert visitor.focused() == {"layer": 3, "head": 1, "query": 10, "key": 2}
    assert_frame_over(visitor, "attention_grid", 3, 1)
    assert_frame_over(visitor, "attention_pattern", 10, 2)
    map_before = visitor.charts()["attention_pattern"]
    visitor.click_cell("attention_pattern", 6, 8)
    expect(visitor.focus("key")).to_have_value("8")
    visitor.settled()
    assert visitor.query() == {"query": ["6"], "key": ["8"]}
    expect(visitor.widget("focus_line").locator(".weight")).to_have_text(f"weight {trained.pattern(3)[1, 6, 8]:.2f}")
    assert_frame_over(visitor, "attention_pattern", 6, 8)
    assert visitor.charts()["attention_pattern"] == map_before, "the chart under the frame is not drawn again"

    for key in ("ArrowDown", "ArrowRight", "ArrowRight"):  # the click gave the frame the keyboard
        visitor.page.keyboard.press(key)
    expect(visitor.focus("key")).to_have_value("10")
    visitor.settled().click_head(5, 9)
    visitor.page.keyboard.press("ArrowLeft")
    expect(visitor.focus("head")).to_have_value("8")
    visitor.settled()
    drawn = visitor.array("attention_pattern", name="customdata")
    np.testing.assert_allclose(drawn, trained.pattern(5)[8], atol=1e-5)
    assert_frame_over(visitor, "attention_grid", 5, 8)
    chosen = {"layer": 5, "head": 8, "query": 7, "key": 10}
    assert visitor.query() == {place: [str(number)] for place, number in chosen.items()}

    visitor.go_to("Steps")
    assert visitor.focused() == chosen
    visitor.open(visitor.page.url + "&step_stage=softmax")
    assert_frame_over(visitor, "step_pattern", 7, 10)
    visitor.click_cell("step_softmax", None, 13)
    expect(visitor.focus("key")).to_have_value("13")
    visitor.settled().go_to("Norms")
    visitor.open_panel("norms_closer")
    visitor.settled().click_cell("norms_by_token", 3, 4)  # the third block's output is layer 2's
    expect(visitor.focus("layer")).to_have_value("2")
    visitor.settled()
    chosen = {"layer": 2, "head": 8, "query": 4, "key": 13}
    assert visitor.focused() == chosen
    charts, copied = visitor.charts(), visitor.copied_link()

    visitor.page.go_back()
    visitor.page.wait_for_url("**/step-by-step?**")
    assert visitor.settled().focused() == chosen, "which every page looks at"
    assert visitor.query()["layer"] == ["2"]
    theirs = classmate.open(copied)
    assert theirs.focused() == chosen
    assert theirs.charts() == charts
    places = {place: [str(number)] for place, number in chosen.items()}
    assert theirs.query() == {**places, "norms_closer": ["true"], "v": [VERSION]}


def test_the_line_moves_all_four_by_keyboard_and_a_chip_a_bar_and_a_line_move_theirs(visitor: Visitor) -> None:
    visitor.open("/")
    visitor.move("next query")
    for key in (*["ArrowUp"] * 12, "ArrowRight", "Shift+ArrowRight", "Shift+ArrowDown", "Shift+ArrowDown"):
        visitor.page.keyboard.press(key)  # faster than the server answers
    visitor.eventually(lambda: visitor.query().get("layer") == ["5"], "the last key in the link")
    assert visitor.settled().query() == {"layer": ["5"], "head": ["2"], "query": ["0"], "key": ["3"]}
    visitor.widget("token_chips").get_by_role("button", name="tired").click()
    expect(visitor.focus("query")).to_have_value("13")
    visitor.settled().page.keyboard.press("ArrowLeft")
    expect(visitor.focus("query")).to_have_value("12")
    visitor.settled().go_to("Attention")
    assert visitor.focused() == {"layer": 5, "head": 2, "query": 12, "key": 3}

    visitor.open_panel("attention_closer")
    lines = visitor.widget("attention_lines")
    lines.locator(".names").first.get_by_text("animal").click()
    expect(visitor.focus("query")).to_have_value("2")
    visitor.settled()
    lines.locator(".names").last.get_by_text("street").click()
    expect(visitor.focus("key")).to_have_value("8")
    visitor.settled()
    assert lines.locator(".chosen").all_inner_texts() == ["animal₂", "street₈"]
    visitor.choose("attention_view", "ranking")
    expect(visitor.widget("attention_ranking_chart")).to_be_visible()
    first, second = map(position, visitor.settled().charts()["attention_ranking"][0]["y"][:2])
    visitor.click_cell("attention_ranking", 0, None)
    expect(visitor.focus("key")).to_have_value(str(first))
    visitor.settled().widget("attention_ranking_save_menu").get_by_role("button").click()
    table = visitor.settled().widget("attention_ranking_table").locator(".stDataFrameGlideDataEditor").first
    table.scroll_into_view_if_needed()
    table.click(position={"x": 150, "y": 2.5 * ROW})  # below the header and the first row
    expect(visitor.focus("key")).to_have_value(str(second))
    visitor.settled()
    visitor.focus("head").select_option("11")
    visitor.eventually(lambda: visitor.query().get("head") == ["11"], "the head in the link")


def test_many_changes_fold_and_the_keyboard_goes_on_where_one_is_taken_back(visitor: Visitor) -> None:
    visitor.open("/attention?do=" + ",".join(f"3.{head}:zero" for head in range(9)))
    line = visitor.widget("change_chips_line")
    expect(line.locator(".change:visible")).to_have_count(6)
    line.get_by_role("button", name="3 more").click()
    expect(line.locator(".change:visible")).to_have_count(9)
    line.get_by_role("button", name="Take back: layer 3, head 0 off").press("Enter")
    expect(line.locator(".change:visible")).to_have_count(8)
    expect(line.get_by_role("button", name="Take back: layer 3, head 1 off")).to_be_focused()
    visitor.open("/attention?do=3.1:zero")
    line.get_by_role("button", name="Take back: layer 3, head 1 off").press("Enter")
    expect(line).to_have_count(0)
    expect(visitor.page.locator(".stMain h1")).to_be_focused()
