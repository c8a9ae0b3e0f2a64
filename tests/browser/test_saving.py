"""What a visitor takes along: every kind of file arrives, by mouse and by finger, and no page moves for the menu."""

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.visitor import Visitor
from tests.export.pictures.drawn import find_cells, metadata, paint, pixels
from tests.web.app_test import trained_trace

WEIGHTS = "layers.2.attn.pattern"


def save(visitor: Visitor, chart: str, kind: str, folder: Path) -> tuple[str, bytes]:
    """Press a button of an open menu; returns the file's name and its bytes."""
    button = visitor.widget(f"{chart}_save_{kind}").get_by_role("button")
    with visitor.page.expect_download() as download:
        button.click()
    download.value.save_as(folder / "file")
    return download.value.suggested_filename, (folder / "file").read_bytes()


def open_menu(visitor: Visitor, chart: str) -> None:
    visitor.widget(f"{chart}_save_menu").get_by_role("button", name="Save this chart").click()
    expect(visitor.widget(f"{chart}_save_png").get_by_role("button")).to_be_visible()
    visitor.settled()


def test_each_kind_of_file_comes_from_the_attention_page(visitor: Visitor, tmp_path: Path) -> None:
    visitor.open("/attention?layer=2&head=5")
    open_menu(visitor, "attention_pattern")
    files = dict(save(visitor, "attention_pattern", kind, tmp_path) for kind in ("png", "svg", "pdf", "csv"))
    assert sorted(files) == [f"attention_layer2_head5.{kind}" for kind in ("csv", "pdf", "png", "svg")]
    weights = trained_trace()[WEIGHTS][0, 5].numpy()
    rows = list(csv.reader(io.StringIO(files["attention_layer2_head5.csv"].decode("utf-8-sig"))))
    np.testing.assert_allclose(np.array([row[1:] for row in rows[1:]], np.float32), weights, atol=1e-5)
    cells = paint(find_cells(files["attention_layer2_head5.svg"]), weights.shape)
    assert (cells.sum(axis=2).argmin(axis=1) == weights.argmax(axis=1)).all(), "each query's darkest cell is its key"
    link = metadata(files["attention_layer2_head5.png"])["Source"]
    assert link.startswith(f"{visitor.server.url}/attention?")
    assert "layer=2" in link
    assert pixels(files["attention_layer2_head5.png"]).shape[1] == 1285
    assert files["attention_layer2_head5.pdf"].startswith(b"%PDF-")
    visitor.open(link)
    assert visitor.focused()["layer"] == 2
    assert visitor.notices() == ""


def test_all_heads_are_one_figure_for_a_paper(visitor: Visitor, tmp_path: Path) -> None:
    visitor.open("/attention")
    open_menu(visitor, "attention_grid")
    name, svg = save(visitor, "attention_grid", "svg", tmp_path)
    assert name == "attention_all_heads.svg"
    assert b'width="481.' in svg, "points: 170 mm"
    name, pdf = save(visitor, "attention_grid", "pdf", tmp_path)
    assert name == "attention_all_heads.pdf"
    assert b"/FontFile2" in pdf


def test_the_menu_takes_no_room_and_a_finger_opens_it(phone: Visitor, tmp_path: Path) -> None:
    phone.open("/norms")
    caption = phone.widget("norms_by_layer").get_by_test_id("stCaptionContainer").bounding_box()
    menu = phone.widget("norms_by_layer_save_menu").get_by_role("button")
    icon = menu.bounding_box()
    assert caption
    assert icon
    assert icon["y"] + icon["height"] <= caption["y"] + caption["height"] + 8
    assert min(icon["width"], icon["height"]) >= 24, "the least that WCAG 2.2 asks for"
    menu.tap()
    button = phone.widget("norms_by_layer_save_png").get_by_role("button")
    expect(button).to_be_visible()
    phone.settled()
    with phone.page.expect_download() as download:
        button.tap()
    assert download.value.suggested_filename == "norms_by_layer.png"


@pytest.mark.parametrize(("language", "begins"), [("Markdown", "| key |"), ("LaTeX", "% ")])
def test_a_table_is_copied(visitor: Visitor, language: str, begins: str) -> None:
    visitor.open("/attention")
    visitor.widget("attention_lines_numbers").locator("summary").click()
    visitor.settled()
    visitor.widget("attention_lines_copy").get_by_role("button").click()
    visitor.page.get_by_role("tab", name=language).click()
    expect(visitor.page.locator("[role=tabpanel]:not([hidden]) code").first).to_contain_text(begins)
