"""Files out and in: what a chart's menu saves or embeds, the setup as code, and a student's own weights."""

import ast
import csv
import io
import json
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import nbformat
import numpy as np
import pytest
import torch
from PIL import Image
from playwright.sync_api import Locator, expect
from safetensors.torch import save_file

from playground import Encoder, ModelConfig
from playground.runs.encoder_run import run
from playground.text import words
from tests.browser.visitor import Visitor
from tests.web.app_test import trained_trace

SVG = "{http://www.w3.org/2000/svg}"


def save(visitor: Visitor, button: Locator, folder: Path) -> tuple[str, bytes]:
    """Press a button that saves a file; returns the file's name and its bytes."""
    with visitor.page.expect_download() as download:
        button.click()
    name = download.value.suggested_filename
    download.value.save_as(folder / name)
    return name, (folder / name).read_bytes()


def save_chart(visitor: Visitor, chart: str, kind: str, folder: Path) -> tuple[str, bytes]:
    """Save a chart by its menu."""
    visitor.widget(f"{chart}_save_menu").get_by_role("button", name="Numbers and pictures").click()
    made_by = visitor.settled().widget(f"{chart}_save_{'csv' if kind == 'csv' else 'picture'}")
    file = save(visitor, made_by.get_by_role("button", name=kind.upper()), folder)
    visitor.page.keyboard.press("Escape")
    return file


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
    files = dict(save_chart(visitor, "attention_pattern", kind, tmp_path) for kind in ("png", "svg", "csv"))
    assert list(files) == [f"attention_layer2_head5.{kind}" for kind in ("png", "svg", "csv")]
    png, svg, table = files.values()
    weights = trained_trace()["layers.2.attn.pattern"][0, 5].numpy()
    rows = list(csv.reader(io.StringIO(table.decode("utf-8-sig"))))
    np.testing.assert_allclose(np.array([row[1:] for row in rows[1:]], np.float32), weights, atol=1e-5)
    found = texts(svg)
    assert [found.count(name) for name in visitor.labels()] == [2] * 16, "beside its row, and beside its column"
    seen = visitor.widget("attention_pattern").locator(".main-svg").first.bounding_box()
    assert seen
    with Image.open(io.BytesIO(png)) as image:
        assert image.size == pytest.approx((2 * seen["width"], 2 * seen["height"]), abs=2)
        assert len(np.unique(np.asarray(image.convert("L")))) > 20, "the cells have colours"


class FrameReader(HTMLParser):
    """The attributes of the frame in a snippet."""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        assert tag == "iframe"
        self.attributes = dict(attributes)


def test_the_snippet_of_a_chart_shows_that_chart_alone_and_leads_back(visitor: Visitor, classmate: Visitor) -> None:
    visitor.open("/attention?layer=2&head=3&text=%22quoted%22+%26+%3Cb%3Ebold")
    weights = visitor.array("attention_pattern")
    visitor.widget("attention_pattern_save_menu").get_by_role("button").click()
    reader = FrameReader()
    snippet = visitor.page.get_by_test_id("stPopoverBody").locator("pre code").inner_text()
    assert "&amp;" not in snippet, "where it is read as text, it opens the same"
    reader.feed(snippet)
    assert reader.attributes["title"]
    frame = classmate.page
    frame.goto(str(reader.attributes["src"]))
    expect(classmate.widget("attention_pattern").locator(".main-svg").first).to_be_visible()
    expect(frame.locator("[data-test-script-state=notRunning]")).to_have_count(1)
    assert (classmate.array("attention_pattern") == weights).all()
    assert list(classmate.charts()) == ["attention_pattern"]
    expect(frame.locator("h1")).to_be_hidden()
    classmate.move("next head")
    expect(classmate.widget("attention_pattern")).to_contain_text("layer 2, head 4")
    way_out = frame.get_by_role("link", name="Open in the playground")
    visitor.open(str(way_out.get_attribute("href")))
    assert visitor.focused()["head"] == 4
    assert visitor.query()["text"] == ['"quoted" & <b>bold']


def test_the_setup_is_saved_as_code_and_as_a_notebook(visitor: Visitor, tmp_path: Path) -> None:
    """That they run: tests/export/."""
    visitor.open("/norms?weights=random&tokenizer=char&n_layers=2&d_model=64&n_heads=4&seed=3&causal=true")
    visitor.unfold("More")
    visitor.widget("export").get_by_role("button").click()
    dialog = visitor.page.get_by_role("dialog")
    for name in ("encoder.py", "encoder.ipynb"):
        saved, content = save(visitor, dialog.get_by_role("button", name=f"Download {name}"), tmp_path)
        assert saved == name
    ast.parse((tmp_path / "encoder.py").read_text(encoding="utf-8"))
    nbformat.validate(json.loads(content))
    visitor.page.keyboard.press("Escape")
    visitor.settled()


def test_a_file_of_weights_is_opened_shown_and_forgotten(visitor: Visitor, tmp_path: Path) -> None:
    model, text = Encoder(ModelConfig(vocab_size=5, d_model=20, n_heads=5, n_layers=2, d_ff=24), seed=7), "an example"
    save_file(dict(model.state_dict()), tmp_path / "mine.safetensors")
    torch.save(model.state_dict(), tmp_path / "pickle.safetensors")
    visitor.open(f"/attention?text={text.replace(' ', '+')}&head=3")
    visitor.choose("weights", "mine")
    upload, main = (
        visitor.page.locator("[class*=st-key-own_file_] input[type=file]"),
        visitor.page.get_by_test_id("stMain"),
    )
    upload.set_input_files(tmp_path / "pickle.safetensors")
    expect(visitor.page.get_by_test_id("stSidebar").get_by_test_id("stAlert")).to_contain_text("This is a pickle")
    visitor.settled()

    upload.set_input_files(tmp_path / "mine.safetensors")
    expect(main).to_contain_text("your own weights")
    expect(visitor.settled().slider("n_layers")).to_have_count(0)
    assert visitor.query()["d_model"] == ["20"]  # no stop of its slider
    while visitor.query()["n_heads"] != ["5"]:
        visitor.press("n_heads", "ArrowLeft")
        visitor.settled()
    pattern = run(model, words([text]).encode_batch([text])).patterns()
    np.testing.assert_allclose(visitor.array("attention_pattern", name="customdata"), pattern[1, 3], atol=1e-5)

    visitor.page.reload()
    visitor.settled()
    assert "A link can't carry a weights file" in visitor.notices()
    expect(main).to_contain_text("random weights")
