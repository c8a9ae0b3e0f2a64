"""What a visitor saves: every kind of file arrives, by mouse and by finger, and no page moves for the menu."""

import csv
import io
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.browser.visitor import Visitor
from tests.web.app_test import trained_trace

SVG = "{http://www.w3.org/2000/svg}"


def open_menu(visitor: Visitor, chart: str) -> None:
    visitor.widget(f"{chart}_save_menu").get_by_role("button", name="Save this chart").click()
    visitor.settled()


def save(visitor: Visitor, chart: str, kind: str, folder: Path) -> tuple[str, bytes]:
    """Press a button of a chart's menu; returns the file's name and its bytes."""
    open_menu(visitor, chart)
    made_by = "csv" if kind == "csv" else "picture"
    with visitor.page.expect_download() as download:
        visitor.widget(f"{chart}_save_{made_by}").get_by_role("button", name=kind.upper()).click()
    download.value.save_as(folder / "file")
    visitor.page.keyboard.press("Escape")
    return download.value.suggested_filename, (folder / "file").read_bytes()


def texts(svg: bytes) -> list[str]:
    """The words of an SVG, which asks no other server for anything and runs nothing."""
    root = ET.fromstring(svg)
    assert not list(root.iter(f"{SVG}script"))
    for element in root.iter():
        links = [value for name, value in element.items() if name.endswith(("href", "src"))]
        assert all(link.startswith(("#", "data:image/png")) for link in links)
    return ["".join(element.itertext()) for element in root.iter(f"{SVG}text")]


def test_each_kind_of_file_comes_from_the_attention_page_and_holds_its_weights(
    visitor: Visitor, tmp_path: Path
) -> None:
    visitor.open("/attention?layer=2&head=5")
    files = dict(save(visitor, "attention_pattern", kind, tmp_path) for kind in ("png", "svg", "csv"))
    assert list(files) == [f"attention_layer2_head5.{kind}" for kind in ("png", "svg", "csv")]
    weights = trained_trace()["layers.2.attn.pattern"][0, 5].numpy()
    rows = list(csv.reader(io.StringIO(files["attention_layer2_head5.csv"].decode("utf-8-sig"))))
    np.testing.assert_allclose(np.array([row[1:] for row in rows[1:]], np.float32), weights, atol=1e-5)
    words = texts(files["attention_layer2_head5.svg"])
    assert "weight" in words
    for name in visitor.labels():
        assert words.count(name) == 2, "once beside its row, once beside its column"
    seen = visitor.widget("attention_pattern").locator(".main-svg").first.bounding_box()
    assert seen
    with Image.open(io.BytesIO(files["attention_layer2_head5.png"])) as image:
        assert image.size == pytest.approx((2 * seen["width"], 2 * seen["height"]), abs=2)
        assert len(np.unique(np.asarray(image.convert("L")))) > 20, "the cells have colours"


def test_the_menu_takes_no_room_and_a_finger_opens_it(phone: Visitor) -> None:
    phone.open("/norms")
    caption = phone.widget("norms_by_layer").get_by_test_id("stCaptionContainer").bounding_box()
    menu = phone.widget("norms_by_layer_save_menu").get_by_role("button")
    icon = menu.bounding_box()
    assert caption
    assert icon
    assert icon["y"] + icon["height"] <= caption["y"] + caption["height"] + 8
    assert min(icon["width"], icon["height"]) >= 24, "the least that WCAG 2.2 asks for"
    menu.tap()
    button = phone.widget("norms_by_layer_save_picture").get_by_role("button", name="PNG")
    expect(button).to_be_visible()
    phone.settled()
    with phone.page.expect_download() as download:
        button.tap()
    assert download.value.suggested_filename == "norms_by_layer.png"
