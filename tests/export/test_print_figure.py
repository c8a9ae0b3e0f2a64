"""Figures for white paper: light, as wide as a page, in colours of the theme; captions as plain text."""

import json
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
from streamlit.elements.lib.streamlit_plotly_theme import configure_streamlit_plotly_theme

from playground.export import print_figure
from playground.export.plain_text import plain_caption
from playground.export.print_figure import DIVERGING, PAGE_WIDTH, SEQUENTIAL, write_print_figure
from playground.figures import attention
from tests.figures.test_every_figure import FIGURES


def read(figure: go.Figure) -> dict[str, Any]:
    return dict(json.loads(write_print_figure(figure)))


@pytest.mark.parametrize("drawn", FIGURES, ids=range(len(FIGURES)))
def test_every_figure_is_a_light_one_of_a_pages_width(drawn: tuple[Any, ...]) -> None:
    figure = drawn[0]
    text = write_print_figure(figure)
    printed = json.loads(text)
    assert [trace["type"] for trace in printed["data"]] == [trace.type for trace in figure.data]
    layout = printed["layout"]
    assert (layout["width"], layout["height"]) == (PAGE_WIDTH, figure.layout.height)
    assert layout["template"]["layout"]["paper_bgcolor"] == "#ffffff"
    assert '"#0000' not in text, "no colour that the page's theme would have to fill in"
    assert "hovertemplate" not in text
    go.Figure(printed)  # Plotly validates all of it


@pytest.fixture(scope="module", autouse=True)
def theme() -> None:
    """Streamlit's theme, whose colours are place holders until a browser fills them in."""
    configure_streamlit_plotly_theme()


def test_signed_numbers_have_the_themes_two_colours() -> None:
    signed = np.array([[-1, 1], [0.5, -0.5]], np.float32)
    cells = read(attention.head_heatmap(signed, ["a", "b"], np.ones((2, 2), bool), signed=True))["data"][0]
    assert [colour for _, colour in cells["colorscale"]] == list(DIVERGING)


def test_weights_keep_their_numbers_and_have_the_themes_one_colour() -> None:
    weights = np.array([[0.25, 0.75], [1, 0]], np.float32)
    printed = read(attention.head_heatmap(weights, ["a", "b"], np.ones((2, 2), bool), scale=attention.SQUARE_ROOT))
    assert "colorscale" not in printed["data"][0]
    scale = printed["layout"]["template"]["data"]["heatmap"][0]["colorscale"]
    assert [colour for _, colour in scale] == list(SEQUENTIAL)


def test_an_axis_without_words_has_no_line() -> None:
    figure = go.Figure(go.Scatter(y=[1, 2]), {"xaxis": {"showticklabels": False}})
    layout = read(figure)["layout"]
    assert (layout["xaxis"]["showline"], layout["xaxis"]["ticks"]) == (False, "")


def test_colours_are_those_of_the_light_theme() -> None:
    config = Path(__file__).resolve().parents[2] / ".streamlit" / "config.toml"
    light = tomllib.loads(config.read_text(encoding="utf-8"))["theme"]["light"]
    assert (list(SEQUENTIAL), list(DIVERGING)) == (light["chartSequentialColors"], light["chartDivergingColors"])
    assert light["textColor"] == print_figure.TEXT


def test_a_formula_of_a_caption_is_printed_in_letters() -> None:
    printed = plain_caption(r"$\theta_l$ and $\lVert \partial / \partial \theta_l \rVert_2$")
    assert printed.split() == ["θₗ", "and", "‖", "∂", "/", "∂", "θₗ", "‖₂"]


def test_a_printed_caption_keeps_what_was_quoted_and_the_frame_but_not_what_can_be_clicked() -> None:
    asked = r"**Layer 3.** A row `<x> & $y$` asks \& ends. Click a cell to choose it."
    assert plain_caption(asked) == "Layer 3. A row <x> & $y$ asks & ends."
    framed = "The frame marks the chosen pair; click a cell to choose another. Click a row to open it."
    assert plain_caption(framed) == "The frame marks the chosen pair."
