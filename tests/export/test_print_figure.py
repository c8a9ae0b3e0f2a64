"""Figures for white paper: light, as wide as a page, in colours of the theme; captions as plain text."""

import json
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
from streamlit.elements.lib.streamlit_plotly_theme import configure_streamlit_plotly_theme

from playground.charts import colour_scales
from playground.export import print_figure
from playground.export.print_figure import DIVERGING, PAGE_WIDTH, SEQUENTIAL, plain_caption, write_print_figure
from tests.views.every_figure import every_figure


def read(figure: go.Figure) -> dict[str, Any]:
    return dict(json.loads(write_print_figure(figure)))


@pytest.mark.long
def test_every_figure_is_a_light_one_of_a_pages_width() -> None:
    for name, figure in every_figure().items():
        text = write_print_figure(figure)
        printed = json.loads(text)
        assert [trace["type"] for trace in printed["data"]] == [trace.type for trace in figure.data], name
        layout = printed["layout"]
        assert (layout["width"], layout["height"]) == (PAGE_WIDTH, figure.layout.height or 420), name
        assert layout["template"]["layout"]["paper_bgcolor"] == "#ffffff"
        assert '"#0000' not in text, f"{name}: no colour that the page's theme would have to fill in"
        assert ("hovertemplate" in text) == any(trace.type == "treemap" for trace in figure.data), name
        go.Figure(printed)  # Plotly validates all of it


@pytest.fixture(scope="module", autouse=True)
def theme() -> None:
    """Streamlit's theme, whose colours are place holders until a browser fills them in."""
    configure_streamlit_plotly_theme()


def test_signed_numbers_have_the_themes_two_colours() -> None:
    colours = colour_scales.around_zero([np.array([[-1, 1], [0.5, -0.5]], np.float32)])
    cells = read(go.Figure(go.Heatmap(z=[[-1, 1]], **colours.options)))["data"][0]
    assert [colour for _, colour in cells["colorscale"]] == list(DIVERGING)


def test_weights_keep_their_numbers_and_have_the_themes_one_colour() -> None:
    printed = read(every_figure()["attention attention_pattern"])
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
