"""Heads as thumbnails and lines, and what is read aloud and quoted of a chart."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from numpy.typing import NDArray

from playground.charts import colour_scales, palette
from playground.charts import figure as figures
from playground.charts.chart import Chart, HeadLines, Lines
from playground.charts.colour_scales import weight_colours
from playground.charts.draw import chart_label, draw_chart
from playground.charts.heads import MOST_TOKENS, THUMBNAIL, choose_tokens, head_grid, head_lines, head_map, shrink
from playground.charts.names import escape, quote_token, text_width, token_names
from playground.charts.scene import Scene
from playground.link.opening import Focus

TOKENS = ["[CLS]", "<b>", "it", "it", "&lt;", "[SEP]"]
T = len(TOKENS)
CAUSAL = np.tri(T, dtype=bool)
INNER = np.array([False, True, True, True, True, False])


def random_patterns(*shape: int, seed: int = 0) -> NDArray[np.float32]:
    weights = np.random.default_rng(seed).random(shape) ** 4
    patterns: NDArray[np.float32] = (weights / weights.sum(axis=-1, keepdims=True)).astype(np.float32)
    return patterns


def a_map(**changes: Any) -> Any:
    options: dict[str, Any] = {
        "key": "head", "alt": "A head", "caption": "How to read it.", "click": "The cell.",
        "weights": lambda pattern: pattern, "tokens": lambda _: TOKENS, "allowed": lambda _: CAUSAL,
    }  # fmt: skip
    return head_map(**options | changes)


def draw(chart: Chart[Any], now: Any, pinned: Any = None) -> Any:
    return draw_chart(chart, Scene(now, Focus(0, 0, 2, 1), pinned, "pinned"))


@pytest.mark.parametrize("square_root", [False, True])
def test_a_weight_has_the_same_colour_in_the_thumbnail_and_in_the_map(square_root: bool) -> None:
    pattern, colours = random_patterns(T, T), weight_colours(square_root=square_root)
    chart = a_map(allowed=lambda _: np.ones((T, T), bool), colours=colours)
    (large,) = draw(chart, pattern).now.figure["data"]
    (small,) = head_grid(pattern[None, None], square_root=square_root)["data"]
    exact = pattern ** (0.5 if square_root else 1)
    np.testing.assert_allclose(small["z"][:T, :T] / 255, exact, atol=1 / 255)
    places = np.clip(large["z"] / large["zmax"], 0, 1)
    np.testing.assert_allclose(places, exact, atol=1 / 512 if square_root else 1e-6)
    np.testing.assert_array_equal(large["customdata" if square_root else "z"], pattern)


@pytest.mark.parametrize(
    ("allowed", "grey"),
    [
        (np.broadcast_to(INNER, (T, T)), "padding"),
        (np.broadcast_to(INNER[:, None], (T, T)), "padding"),
        (CAUSAL, "a causal mask"),
        (CAUSAL & INNER, "padding and a causal mask"),
    ],
    ids=["padding as keys", "padding as queries", "causal", "both"],
)
def test_only_what_hides_cells_is_named(allowed: NDArray[np.bool_], grey: str) -> None:
    caption = draw(a_map(allowed=lambda _: allowed), random_patterns(T, T)).now.caption
    assert caption.endswith(f"Grey cells are masked: {grey}.")


def test_masked_cells_are_grey_and_hidden_tokens_left_out() -> None:
    pattern = random_patterns(T, T)
    drawn = draw(a_map(visible=lambda _: INNER), pattern).now
    (cells,) = drawn.figure["data"]
    inner = np.ix_(INNER, INNER)
    np.testing.assert_array_equal(cells["customdata"], np.where(CAUSAL, pattern, np.float32(np.nan))[inner])
    assert cells["x"] == cells["y"] == [escape(name) for name in token_names(TOKENS)[1:5]]
    assert drawn.figure["layout"]["plot_bgcolor"] == palette.MUTED
    assert drawn.cells.rows == ("query", {0: 1, 1: 2, 2: 3, 3: 4})
    np.testing.assert_array_equal(drawn.table(), pattern[inner])
    assert drawn.figure["layout"]["margin"]["l"] > text_width(cells["y"]), "else Plotly draws the chart twice"


@pytest.mark.parametrize(
    "colours", [colour_scales.around_zero, colour_scales.from_zero, weight_colours(square_root=False)]
)
@pytest.mark.parametrize("value", [0.0, np.nan, np.inf])
def test_a_scale_has_a_length_whatever_the_numbers(colours: Any, value: float) -> None:
    for visible in (np.ones(T, bool), np.zeros(T, bool)):
        chart = a_map(colours=colours, visible=lambda _, visible=visible: visible)
        (cells,) = draw(chart, np.full((T, T), value, np.float32)).now.figure["data"]
        assert cells["zmin"] < cells["zmax"] < np.inf


@pytest.mark.parametrize(
    "shape", [(1, 1, 1, 1), (2, 3, 4, 4), (2, 2, 23, 23), (3, 5, 7, 22), (2, 3, 100, 23), (2, 3, 0, 0)]
)
def test_the_mosaic_has_each_heads_strongest_weights_in_its_share(shape: tuple[int, int, int, int]) -> None:
    """Bytes are square roots, with an empty row and column after each thumbnail; all thumbnails are equally large."""
    n_layers, n_heads, n_queries, n_keys = shape
    patterns = random_patterns(*shape)
    figure = head_grid(shrink(patterns))
    (mosaic,) = figure["data"]
    blocks = [max(1, -(-n // THUMBNAIL)) for n in (n_queries, n_keys)]
    height, width = (-(-n // block) for n, block in zip((n_queries, n_keys), blocks, strict=True))
    expected = np.zeros((n_layers * (height + 1), n_heads * (width + 1)), dtype=np.uint8)
    for layer, head, row, column in np.ndindex(n_layers, n_heads, height, width):
        rows, columns = (slice(i * block, (i + 1) * block) for i, block in zip((row, column), blocks, strict=True))
        dot = patterns[layer, head, rows, columns].max()
        expected[layer * (height + 1) + row, head * (width + 1) + column] = np.uint8(255 * np.sqrt(dot))
    assert mosaic["z"].dtype == np.uint8
    assert np.abs(mosaic["z"].astype(int) - expected).max() <= 1  # the same but for the last bit of a float
    assert not mosaic["z"][height :: height + 1].any()


def test_lines_stand_in_a_row_with_the_pinned_ones_and_are_saved_with_their_weights() -> None:
    now, before = random_patterns(T, T), random_patterns(T, T, seed=1)
    every = np.ones(T, bool)
    chart = HeadLines[Any](
        key="lines", alt="Lines", caption="How to read it.", nearest=lambda _: "Head 3.",
        lines=lambda pattern: head_lines(pattern, TOKENS, 2, 1, shown=every), weights=pd.DataFrame,
        table=lambda pattern: pd.DataFrame({"weight": pattern[2]}),
    )  # fmt: skip
    drawing = draw(chart, now, before)
    (pinned,) = drawing.beside
    assert pinned.caption.startswith("**pinned.** Head 3.")
    assert list(drawing.now.table()) == ["weight", "weight, pinned", "weight, now − pinned"]
    np.testing.assert_array_equal(go.Figure(pinned.figure).data[0].z, before)


EVERY = np.ones(T, dtype=bool)


def lines_of(drawn: Lines, *, chosen: bool = False) -> list[tuple[int, int]]:
    """Every line as its two ends, query and key: those of the weights, or the one between the chosen tokens."""
    return [edge for each in drawn.strokes for edge in each["edges"] if (each["colour"] == palette.FOCUS) == chosen]


def test_lines_lead_from_every_query_to_its_strongest_keys() -> None:
    pattern = np.zeros((T, T), dtype=np.float32)
    pattern[:, 0] = 0.6
    pattern[:, 5] = 0.4
    pattern[3, 0], pattern[3, 2] = 0.01, 0.59  # below what is drawn
    drawn = head_lines(pattern, TOKENS, 3, 0, shown=EVERY)
    expected = {(q, k) for q in range(T) for k in range(T) if pattern[q, k] > 0.02}
    assert sorted(lines_of(drawn)) == sorted(expected)
    assert drawn.names == token_names(TOKENS)


THREE_TOKENS = ["[CLS]", "<b>", "it"]
WEIGHTS = np.array([[0.25, 0.5, 0.25], [0.9, 0.1, 0], [0.2, 0.2, 0.6]], np.float32)
ALL = np.ones((3, 3), bool)


def drawn_map(weights: NDArray[np.float32]) -> figures.Figure:
    chart = a_map(tokens=lambda _: THREE_TOKENS, allowed=lambda _: ALL, colours=weight_colours(square_root=False))
    figure: figures.Figure = draw(replace(chart, click=""), weights).now.figure
    return figure


def figure_of(*traces: dict[str, Any]) -> figures.Figure:
    return {"data": list(traces), "layout": {}}


@pytest.mark.parametrize(
    ("drawing", "said"),
    [
        (drawn_map(WEIGHTS), ["0.9", "<b>₁", "[CLS]₀"]),
        (
            figure_of({"type": "bar", "x": ["a", "&lt;b&gt;"], "y": [1, 3], "name": "moved"}),
            ["moved: the longest bar is 3, at <b>."],
        ),
        (figure_of({"type": "scatter", "y": [900, 700, 567], "name": "residual"}), ["from 900 at 0 to 567 at 2"]),
        (head_grid(np.stack([np.eye(3), ALL / 3])[None]), ["head 0 gives", "head 1 spreads"]),
    ],
)
def test_a_label_says_what_is_largest_and_where(drawing: figures.Figure, said: list[str]) -> None:
    label = chart_label("Its name.", drawing)
    assert label.startswith("Its name. ")
    assert all(part in label for part in said), label


@pytest.mark.parametrize(
    ("token", "shown"),
    [
        ("**$x$", "`**$x$`"),
        ("``a", "`ˋˋa`"),
        ("", "` `"),
        ("a\r\n\tb", "`a b`"),
        ("a\u202eb\u2066", "`a b `"),
        ("x" * 30, f"`{'x' * 17}…`"),
    ],
)
def test_a_token_is_quoted_as_code(token: str, shown: str) -> None:
    assert quote_token(token) == shown


def test_of_a_long_sentence_the_nearest_tokens_are_drawn() -> None:
    shown = np.ones(256, bool)
    shown[149] = False
    drawn = np.flatnonzero(choose_tokens(150, shown=shown))
    assert len(drawn) == MOST_TOKENS
    assert 149 not in drawn
    assert np.ptp(drawn) == MOST_TOKENS
