"""Pictures: cells have the colours of their numbers, texts are texts, and the files say where they are from."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
import pytest
from numpy.typing import NDArray

from playground.export.pictures import paper
from playground.export.pictures.cells import shades_of
from playground.export.pictures.draw_picture import FORMATS, Format, draw_picture
from playground.export.pictures.paper import ramp_of
from playground.export.pictures.plain_text import plain_caption
from playground.figures import attention
from playground.figures.theme import colour_bar, heatmap, signed_colours
from tests.export.pictures.drawn import DC, SVG, find_cells, metadata, paint, parse, pixels, place_of_cells, texts
from tests.figures.test_every_figure import FIGURES

LINK = "http://127.0.0.1:1/attention?text=a+%26+b&v=2"
CAPTION = r"**Layer 3.** A row `<x> & $y$` asks \& ends. Click a cell to choose it."
CAPTION_READ = "Layer 3. A row <x> & $y$ asks & ends."
Drawn = tuple[go.Figure, str | None, str | None]
BEGINS = {"png": b"\x89PNG\r\n", "svg": b"<?xml", "pdf": b"%PDF-1."}


def map_of(z: NDArray[np.float32], **options: object) -> go.Figure:
    axis = {"title": "column"}
    return heatmap(z, "", height=300, bar=colour_bar("weight"), x_axis=axis, y_axis={"title": "row"}, **options)  # type: ignore[arg-type]


def colours_of(figure: go.Figure) -> NDArray[np.uint8]:
    """The colour that each cell of a heatmap has to have."""
    trace = figure.data[0]
    low, high = (
        given if given is not None else end(trace.z)
        for given, end in ((trace.zmin, np.nanmin), (trace.zmax, np.nanmax))
    )
    return ramp_of(trace)[np.maximum(shades_of(trace.z, low, high), 0)]


NUMBERS = np.random.default_rng(3).normal(size=(5, 7)).astype(np.float32)
NUMBERS[2, 4] = np.nan


@pytest.mark.parametrize("options", [{}, {"zmin": -1, "zmax": 2}, signed_colours(2), {"reversescale": True}], ids=str)
@pytest.mark.parametrize("gap", [0, 2])
def test_each_cell_has_the_colour_of_its_number(options: dict[str, object], gap: int) -> None:
    figure = map_of(NUMBERS, xgap=gap, ygap=gap, **options)
    expected = colours_of(figure)
    svg = draw_picture(figure, "svg")
    if not gap:
        seen = paint(find_cells(svg), (5, 7))
        assert (seen[2, 4] == 255).all(), "what is no number has no cell"
        expected[2, 4] = 255
        np.testing.assert_array_equal(seen, expected)
    image = pixels(draw_picture(figure, "png"))
    width, height, x, y = place_of_cells(svg)
    dots = 2 * paper.PIXELS / 72
    for row, column in product(range(5), range(7)):
        middle = image[int(dots * (y + (row + 0.5) * height)), int(dots * (x + (column + 0.5) * width))]
        if (row, column) != (2, 4):
            assert np.abs(middle.astype(int) - expected[row, column]).max() <= 1


def test_an_attention_map_of_a_page_is_drawn_with_its_shades_and_its_tokens() -> None:
    tokens = ["[CLS]", "<b>", "a&b", "$x^2$", "漢", "🧭", "ελ", "it", "[SEP]"]
    weights = np.random.default_rng(0).dirichlet(np.full(9, 0.3), 9).astype(np.float32)
    figure = attention.head_heatmap(weights, tokens, np.tri(9, dtype=bool), scale=attention.SQUARE_ROOT)
    svg = draw_picture(figure, "svg", caption=CAPTION)
    seen, expected = paint(find_cells(svg), (9, 9)), colours_of(figure)
    assert (seen[np.tri(9, dtype=bool)] == expected[np.tri(9, dtype=bool)]).all()
    assert (seen[~np.tri(9, dtype=bool)] == 255).all()
    words = texts(svg)
    for place, token in enumerate(tokens):
        assert words.count(f"{token}{'₀₁₂₃₄₅₆₇₈'[place]}") == 2, "once beside its row, once below its column"
    assert {"query: who asks", "key: attended to", "weight", CAPTION_READ} <= set(words)


def draw_each(file_format: Format, figures: Iterable[Drawn]) -> None:
    """A file of the format comes from every figure, and in an SVG the name of the horizontal axis can be read."""
    for figure, x, _ in figures:
        picture = draw_picture(figure, file_format, caption=CAPTION, title="A figure", link=LINK)
        assert picture.startswith(BEGINS[file_format])
        if file_format == "svg" and x is not None:
            assert re.sub("</?b>", "", x) in texts(picture)


def test_every_figure_of_every_page_is_drawn_in_formats_by_turns() -> None:
    turns: tuple[Format, ...] = ("png", "svg", "png", "svg", "pdf")  # a PDF takes twice as long
    for first, file_format in enumerate(turns):
        draw_each(file_format, FIGURES[first :: len(turns)])


@pytest.mark.parametrize("file_format", FORMATS)
def test_every_kind_of_line_bar_and_cell_is_drawn_in_every_format(file_format: Format) -> None:
    kinds: dict[tuple[str | None, ...], Drawn] = {}
    for drawn in FIGURES:
        for trace in drawn[0].to_dict()["data"]:
            kinds.setdefault(tuple(map(trace.get, ("type", "mode", "orientation"))), drawn)
    assert {kind[0] for kind in kinds} == {"bar", "heatmap", "scatter"}
    draw_each(file_format, kinds.values())


def test_files_say_what_they_show_and_where_it_is_from() -> None:
    figure = map_of(NUMBERS)
    png, svg, pdf = (draw_picture(figure, name, caption=CAPTION, title="A <map>", link=LINK) for name in FORMATS)
    said = metadata(png)
    assert (said["Title"], said["Description"], said["Source"]) == ("A <map>", CAPTION_READ, LINK)
    root = parse(svg)
    assert [element.text for element in root.iter(f"{DC}source")] == [LINK]
    assert [element.text for element in root.iter(f"{DC}description")] == [CAPTION_READ]
    assert [element.text for element in root.findall(f"{SVG}desc")] == [f"{CAPTION_READ} {LINK}"]
    assert f"/Keywords ({LINK})".encode() in pdf
    assert b"/FontFile2" in pdf, "letters are TrueType, which journals ask for"


def test_a_png_has_two_dots_a_pixel_and_is_as_wide_as_a_page() -> None:
    image = pixels(draw_picture(map_of(NUMBERS), "png"))
    assert image.shape[1] == pytest.approx(2 * 170 / 25.4 * 96, abs=1)
    assert (image[0, 0] == 255).all(), "white paper"


def test_the_same_picture_is_the_same_file_from_any_thread() -> None:
    figure = map_of(NUMBERS)
    with ThreadPoolExecutor(4) as threads:
        files = list(threads.map(lambda _: draw_picture(figure, "svg", caption=CAPTION), range(8)))
    assert len(set(files)) == 1


HOSTILE = [
    "\x00\x01", "\u202eabc", "\ud800", "\uffff", "]]>", "<script>alert(1)</script>", "&amp;", "$\\frac{$", "a\nb",
    "\u2803", "x" * 500, "𐍈", "\U000f0000",
]  # fmt: skip


@pytest.mark.parametrize("file_format", FORMATS)
@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_no_text_breaks_a_file(text: str, file_format: Format) -> None:
    tokens, weights = [text, "b"], np.full((2, 2), 0.5, np.float32)
    figure = attention.head_heatmap(weights, tokens, np.ones((2, 2), bool))
    picture = draw_picture(figure, file_format, caption=f"`{text}` asks.", title=text, link=f"http://x/?text={text}")
    assert picture.startswith(BEGINS[file_format])
    if file_format == "svg":
        assert not list(parse(picture).iter(f"{SVG}script"))
    if "<script>" in text and file_format == "svg":
        assert f"{text[:17]}…₀" in texts(picture)


def test_what_the_font_lacks_is_said_where_it_cannot_be_drawn() -> None:
    figure = attention.head_heatmap(np.full((2, 2), 0.5, np.float32), ["漢", "b"], np.ones((2, 2), bool))
    plain = attention.head_heatmap(np.full((2, 2), 0.5, np.float32), ["ж", "b"], np.ones((2, 2), bool))
    lacking, complete = (pixels(draw_picture(each, "png")).shape[0] for each in (figure, plain))
    assert lacking > complete, "a line more, which explains the square"
    assert "□₀" not in texts(draw_picture(figure, "svg"))


def test_colours_are_those_of_the_light_theme() -> None:
    config = Path(__file__).resolve().parents[3] / ".streamlit" / "config.toml"
    light = tomllib.loads(config.read_text(encoding="utf-8"))["theme"]["light"]
    assert (list(paper.SEQUENTIAL), list(paper.DIVERGING)) == (
        light["chartSequentialColors"],
        light["chartDivergingColors"],
    )
    assert light["textColor"] == paper.TEXT


def test_no_page_waits_for_the_library_that_draws() -> None:
    code = "import sys, playground.web.shared.panels; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_formula_of_a_caption_is_printed_in_letters() -> None:
    printed = plain_caption(r"$\theta_l$ and $\lVert \partial / \partial \theta_l \rVert_2$")
    assert printed.split() == ["θₗ", "and", "‖", "∂", "/", "∂", "θₗ", "‖₂"]


def test_a_printed_caption_keeps_the_frame_but_not_what_can_be_clicked() -> None:
    on_page = (
        "A cell is a weight. The frame marks the chosen pair; click a cell to choose another. Click a row to open it."
    )
    assert plain_caption(on_page) == "A cell is a weight. The frame marks the chosen pair."
