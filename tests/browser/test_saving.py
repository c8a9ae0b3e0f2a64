"""What a visitor takes along: every kind of file arrives, by mouse and by finger, and no page moves for the menu."""

import base64
import csv
import io
import itertools
import re
import zlib
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
from numpy.typing import NDArray
from playwright.sync_api import Browser, Request, expect

import playground.web.components
from playground.export.print_figure import PAGE_WIDTH, SEQUENTIAL, write_print_figure
from playground.web.server.pictures import libraries_path
from tests.browser.server import Server
from tests.browser.visitor import Visitor
from tests.export.pictures import DC, SVG, find_cells, metadata, paint, parse, pixels, texts
from tests.views.every_figure import every_figure
from tests.web.app_test import trained_trace

WEIGHTS = "layers.2.attn.pattern"
COMPONENTS = Path(playground.web.components.__file__).parent


def save(visitor: Visitor, chart: str, kind: str, folder: Path) -> tuple[str, bytes]:
    """Press a button of an open menu; returns the file's name and its bytes."""
    made_by = "csv" if kind == "csv" else "picture"
    button = visitor.widget(f"{chart}_save_{made_by}").get_by_role("button", name=kind.upper())
    with visitor.page.expect_download() as download:
        button.click()
    download.value.save_as(folder / "file")
    return download.value.suggested_filename, (folder / "file").read_bytes()


def open_menu(visitor: Visitor, chart: str) -> None:
    visitor.widget(f"{chart}_save_menu").get_by_role("button", name="Save this chart").click()
    expect(visitor.widget(f"{chart}_save_picture").get_by_role("button", name="PNG")).to_be_visible()
    visitor.settled()


def read_pdf(pdf: bytes) -> tuple[list[float], bytes]:
    """The size of a PDF's page in points, and all that is drawn and written in it, uncompressed."""
    box = re.search(rb"/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]", pdf)
    assert box
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL)
    inside = [zlib.decompressobj().decompress(one) for one in streams if one[:1] == b"x"]
    return [float(side) for side in box.groups()], b"\n".join([pdf, *inside])


def colours(weights: NDArray[np.float32]) -> NDArray[np.float64]:
    """The light theme's colour of each weight (R, C, 3), on a scale of square roots."""
    stops = np.array([list(bytes.fromhex(colour[1:])) for colour in SEQUENTIAL], np.float64)
    places = np.linspace(0, 1, len(stops))
    return np.stack([np.interp(np.sqrt(weights), places, channel) for channel in stops.T], axis=-1)


def test_each_kind_of_file_comes_from_the_attention_page_and_holds_its_weights(
    visitor: Visitor, tmp_path: Path
) -> None:
    asked: list[str] = []

    def note(request: Request) -> None:
        if "/picture/" in request.url:
            asked.append(request.url.rsplit("/", 1)[-1])

    visitor.page.on("request", note)
    visitor.open("/attention?layer=2&head=5")
    open_menu(visitor, "attention_pattern")
    assert asked == [], "nothing is loaded before somebody saves"
    files = dict(save(visitor, "attention_pattern", kind, tmp_path) for kind in ("png", "svg"))
    assert sorted(asked) == ["DejaVuSans.ttf", "plotly.min.js"]
    files |= dict(save(visitor, "attention_pattern", kind, tmp_path) for kind in ("pdf", "csv"))
    assert sorted(asked) == ["DejaVuSans.ttf", "jspdf.umd.min.js", "plotly.min.js", "svg2pdf.umd.min.js"]
    assert sorted(files) == [f"attention_layer2_head5.{kind}" for kind in ("csv", "pdf", "png", "svg")]

    weights = trained_trace()[WEIGHTS][0, 5].numpy()
    rows = list(csv.reader(io.StringIO(files["attention_layer2_head5.csv"].decode("utf-8-sig"))))
    np.testing.assert_allclose(np.array([row[1:] for row in rows[1:]], np.float32), weights, atol=1e-5)

    svg = files["attention_layer2_head5.svg"]
    cells, place = find_cells(svg)
    np.testing.assert_allclose(paint(cells, weights.shape), colours(weights), atol=2)
    words = texts(svg)
    for name in visitor.labels():
        assert words.count(name) == 2, "once beside its row, once below its column"
    assert "weight" in words
    assert any(word.startswith("layer 2, head 5. A row is a query") for word in words), "the caption"
    assert not any("lick" in word for word in words), "nothing can be clicked on paper"
    (link,) = (element.text for element in parse(svg).iter(f"{DC}source"))
    assert link
    assert link in "".join(words).replace(" ", ""), "the link can be read, too"

    png = files["attention_layer2_head5.png"]
    assert metadata(png)["Source"] == link
    image = pixels(png)
    assert image.shape[1] == round(2 * PAGE_WIDTH)
    assert (image[0, 0] == 255).all(), "white paper"
    width, height, x, y = place
    middles = [
        [
            image[int(2 * (y + (row + 0.5) * height)), int(2 * (x + (column + 0.3) * width))]
            for column in range(len(weights))
        ]
        for row in range(len(weights))
    ]
    difference = np.abs(np.array(middles, int) - colours(weights)).max(axis=2)
    assert np.sort(difference, axis=None)[-4] <= 2, "but for the frame of the chosen cell"

    pdf = files["attention_layer2_head5.pdf"]
    assert pdf.startswith(b"%PDF-")
    size, inside = read_pdf(pdf)
    assert size[0] == pytest.approx(170 / 25.4 * 72, abs=0.1)
    assert b"/FontFile2" in inside, "letters are TrueType, which journals ask for"
    assert b"/Image" in inside
    assert link.encode() in inside

    visitor.open(link)
    assert visitor.focused()["layer"] == 2
    assert visitor.notices() == ""


def test_all_heads_are_one_figure_for_a_paper(visitor: Visitor, tmp_path: Path) -> None:
    visitor.open("/attention")
    open_menu(visitor, "attention_grid")
    name, svg = save(visitor, "attention_grid", "svg", tmp_path)
    assert name == "attention_all_heads.svg"
    assert float(str(parse(svg).get("width")).removesuffix("mm")) == pytest.approx(170)
    name, pdf = save(visitor, "attention_grid", "pdf", tmp_path)
    assert name == "attention_all_heads.pdf"
    assert read_pdf(pdf)[0][0] == pytest.approx(170 / 25.4 * 72, abs=0.1)


def test_a_picture_is_light_while_the_page_is_dark_and_saved_by_keys_too(visitor: Visitor, tmp_path: Path) -> None:
    visitor.page.emulate_media(color_scheme="dark")
    visitor.open("/norms?norms_closer=true")
    expect(visitor.page.locator(".stApp")).to_have_css("background-color", "rgb(23, 22, 28)")
    for chart in ("norms_by_layer", "norms_by_token"):
        open_menu(visitor, chart)
        image = pixels(save(visitor, chart, "png", tmp_path)[1])
        assert (image[[0, 0, -1, -1], [0, -1, 0, -1]] == 255).all(), f"white corners of {chart}"
        assert (image == list(bytes.fromhex("17161c"))).all(axis=2).mean() < 0.001, f"the dark page's ground: {chart}"
        if chart == "norms_by_layer":
            visitor.page.keyboard.press("Escape")
            expect(visitor.widget(f"{chart}_save_picture")).to_have_count(0)
    visitor.widget("norms_by_token_save_picture").get_by_role("button", name="PNG").focus()
    visitor.page.keyboard.press("Tab")
    with visitor.page.expect_download() as download:
        visitor.page.keyboard.press("Enter")
    assert download.value.suggested_filename == "norms_by_token.svg"


def test_a_text_of_any_letters_breaks_no_file_and_is_no_markup(visitor: Visitor, tmp_path: Path) -> None:
    text = quote("<script>alert(1)</script> &amp; 漢 ελ ]]> \u202e")
    visitor.open(f"/attention?tokenizer=words&weights=random&text={text}")
    open_menu(visitor, "attention_pattern")
    svg = save(visitor, "attention_pattern", "svg", tmp_path)[1]
    words = "".join(texts(svg))
    assert all(part in words for part in ("漢", "ε", "<", "script", "&"))
    assert not list(parse(svg).iter(f"{SVG}script"))
    assert "□" not in words
    pixels(save(visitor, "attention_pattern", "png", tmp_path)[1])
    (_, height), _ = read_pdf(save(visitor, "attention_pattern", "pdf", tmp_path)[1])
    usual = float(str(parse(svg).get("height")).removesuffix("mm")) / 25.4 * 72
    assert height - usual == pytest.approx(15 * 0.75, abs=0.1), "a line more, which explains the box that 漢 became"


def test_every_figure_of_every_page_is_drawn(visitor: Visitor) -> None:
    visitor.open("/parameters")
    helpers, drawing = (
        (COMPONENTS / name).read_text(encoding="utf-8") for name in ("elements.js", "save_picture/save_picture.js")
    )
    script = f"{helpers}{drawing.partition('export default')[0]}"
    visitor.page.evaluate(f"""() => {{ {script}
      window.draw = async (...asked) => base64(new Uint8Array(await new Blob([await makeFile(...asked)]).arrayBuffer()))
    }}""")
    begins = {"svg": b"<svg", "png": b"\x89PNG\r\n", "pdf": b"%PDF-1."}
    kinds = itertools.cycle(("svg", "pdf", "svg", "png", "svg"))
    for figure, kind in zip(every_figure().values(), kinds, strict=False):
        x = figure.layout.xaxis.title.text
        picture = {"figure": write_print_figure(figure), "caption": "One.", "title": "A <map>", "link": "x"}
        drawn = base64.b64decode(visitor.page.evaluate("asked => draw(...asked)", [kind, picture, libraries_path()]))
        assert drawn.startswith(begins[kind])
        if kind == "svg" and x is not None:
            assert re.sub("</?b>", "", x) in texts(drawn)


def test_what_draws_does_not_arrive_and_the_next_click_tries_again(
    server: Server, browser: Browser, tmp_path: Path
) -> None:
    visitor = Visitor.anew(server, browser).open("/norms")  # who has kept none of it
    open_menu(visitor, "norms_by_layer")
    visitor.page.route("**/plotly.min.js", lambda route: route.abort())
    picture = visitor.widget("norms_by_layer_save_picture")
    picture.get_by_role("button", name="SVG").click()
    expect(picture.get_by_role("status")).to_contain_text("could not draw")
    visitor.page.unroute("**/plotly.min.js")
    assert save(visitor, "norms_by_layer", "svg", tmp_path)[0] == "norms_by_layer.svg"
    expect(picture.get_by_role("status")).to_be_empty()
    visitor.page.context.close()


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
    button = phone.widget("norms_by_layer_save_picture").get_by_role("button", name="PNG")
    expect(button).to_be_visible()
    phone.settled()
    with phone.page.expect_download() as download:
        button.tap()
    assert download.value.suggested_filename == "norms_by_layer.png"


def test_a_table_is_saved(visitor: Visitor) -> None:
    visitor.open("/attention")
    visitor.open_panel("attention_closer")
    visitor.widget("attention_lines_numbers").locator("summary").click()
    visitor.settled()
    with visitor.page.expect_download() as download:
        visitor.widget("attention_lines_copy_csv").get_by_role("button").click()
    assert download.value.suggested_filename == "attention_lines_numbers.csv"
