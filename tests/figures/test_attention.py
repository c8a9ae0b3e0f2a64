"""Attention's pictures hold exactly the weights they were given."""

from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
from numpy.typing import NDArray

from playground.figures import attention
from playground.figures.theme import text_width, token_labels

TOKENS = ["[CLS]", "<b>", "it", "it", "&lt;", "[SEP]"]
T = len(TOKENS)
ALL = np.ones((T, T), dtype=bool)
EVERY = np.ones(T, dtype=bool)


def random_patterns(*shape: int, seed: int = 0) -> NDArray[np.float32]:
    weights = np.random.default_rng(seed).random((*shape, shape[-1])) ** 4
    patterns: NDArray[np.float32] = (weights / weights.sum(axis=-1, keepdims=True)).astype(np.float32)
    return patterns


def text_of(figure: go.Figure) -> str:
    """Whatever a figure says, as it travels."""
    return str(figure.to_json())


# --- the mosaic


@pytest.mark.parametrize(
    ("n_layers", "n_heads", "n_tokens"), [(1, 1, 1), (2, 3, 4), (3, 2, 22), (2, 2, 23), (1, 2, 50)]
)
def test_the_mosaics_bytes_are_the_square_roots_of_the_strongest_weights(
    n_layers: int, n_heads: int, n_tokens: int
) -> None:
    patterns = random_patterns(n_layers, n_heads, n_tokens)
    mosaic = attention.head_grid(patterns).data[0].z
    block = -(-n_tokens // attention.THUMBNAIL)
    side = -(-n_tokens // block)
    assert mosaic.dtype == np.uint8
    assert side <= attention.THUMBNAIL
    expected = np.zeros((n_layers * (side + 1), n_heads * (side + 1)), dtype=np.uint8)
    for layer, head, row, column in np.ndindex(n_layers, n_heads, side, side):
        rows = slice(row * block, (row + 1) * block)
        columns = slice(column * block, (column + 1) * block)
        dot = patterns[layer, head, rows, columns].max()
        expected[layer * (side + 1) + row, head * (side + 1) + column] = np.uint8(255 * np.sqrt(dot))
    assert np.abs(mosaic.astype(int) - expected).max() <= 1  # the same but for the last bit of a float
    gutters = np.arange(side, n_layers * (side + 1), side + 1)
    assert not mosaic[gutters].any()


def test_full_and_no_weight_are_the_ends_of_the_scale() -> None:
    figure = attention.head_grid(np.eye(3, dtype=np.float32)[None, None])
    heatmap = figure.data[0]
    assert (heatmap.zmin, heatmap.zmax) == (0, 255)
    assert heatmap.z[:3, :3].tolist() == (255 * np.eye(3)).tolist()
    ticks = dict(zip(heatmap.colorbar.ticktext, heatmap.colorbar.tickvals, strict=True))
    assert ticks["1"] == 255
    assert ticks["0.25"] == pytest.approx(127.5)


@pytest.mark.parametrize(("n_layers", "n_heads", "n_tokens"), [(1, 1, 3), (6, 12, 16), (3, 5, 100)])
def test_marker_number_layer_times_heads_plus_head_lies_on_that_head(
    n_layers: int, n_heads: int, n_tokens: int
) -> None:
    figure = attention.head_grid(random_patterns(n_layers, n_heads, n_tokens))
    pitch = figure.data[0].z.shape[0] // n_layers
    markers = figure.data[1]
    assert len(markers.x) == len(markers.y) == n_layers * n_heads
    for index in range(n_layers * n_heads):
        layer, head = divmod(index, n_heads)
        assert (int(markers.y[index] // pitch), int(markers.x[index] // pitch)) == (layer, head)
    assert [figure.layout.xaxis.tickvals[head] for head in range(n_heads)] == markers.x[:n_heads].tolist()
    assert list(figure.layout.yaxis.ticktext) == [str(layer) for layer in range(n_layers)]


def test_every_head_has_an_equal_share_of_the_picture() -> None:
    figure = attention.head_grid(random_patterns(3, 4, 5))
    left, right = figure.layout.xaxis.range
    bottom, top = figure.layout.yaxis.range
    assert (left, right) == (-0.5, 4 * 6 - 0.5)
    assert (top, bottom) == (-0.5, 3 * 6 - 0.5)


def test_invisible_markers_can_be_clicked() -> None:
    markers = attention.head_grid(random_patterns(1, 2, 3)).data[1]
    assert markers.opacity == 0
    assert markers.hoverinfo == "none"  # "skip" would take the click away too


def test_short_patterns_are_shown_dot_by_dot_and_long_ones_never_lose_a_peak() -> None:
    short = random_patterns(1, 1, attention.THUMBNAIL)
    assert attention.shrink(short) is short
    long = np.zeros((1, 1, 100, 100), dtype=np.float32)
    long[0, 0, 99, 57] = 0.75
    dots = attention.shrink(long)
    assert dots.shape == (1, 1, 20, 20)
    assert dots[0, 0, 19, 11] == 0.75
    assert dots.sum() == 0.75


# --- the large heatmap


def test_the_heatmap_is_the_pattern_with_its_tokens() -> None:
    pattern = random_patterns(T)
    figure = attention.head_heatmap(pattern, TOKENS, ALL)
    heatmap = figure.data[0]
    assert heatmap.z.dtype == np.float32
    assert np.array_equal(heatmap.z, pattern)
    assert list(heatmap.x) == list(heatmap.y) == token_labels(TOKENS)
    assert (heatmap.zmin, heatmap.zmax) == (0, 1)
    assert figure.layout.yaxis.autorange == "reversed"
    assert figure.layout.xaxis.title.text
    assert figure.layout.yaxis.title.text
    assert heatmap.colorbar.title.text == "weight"


def test_masked_cells_have_no_colour_and_no_hover() -> None:
    allowed = np.tri(T, dtype=bool)
    heatmap = attention.head_heatmap(random_patterns(T), TOKENS, allowed).data[0]
    assert np.array_equal(np.isnan(heatmap.z), ~allowed)
    assert heatmap.hoverongaps is False


def test_hidden_tokens_leave_the_rest_unchanged() -> None:
    pattern, shown = random_patterns(T), np.array([False, True, True, True, True, False])
    heatmap = attention.head_heatmap(pattern, TOKENS, ALL, shown=shown).data[0]
    assert np.array_equal(heatmap.z, pattern[1:5, 1:5])
    assert list(heatmap.x) == token_labels(TOKENS)[1:5]


@pytest.mark.parametrize("signed", [False, True])
def test_nothing_to_show_is_an_empty_figure(signed: bool) -> None:
    nothing = np.zeros(T, dtype=bool)
    assert attention.head_heatmap(random_patterns(T), TOKENS, ALL, shown=nothing, signed=signed).data[0].z.size == 0
    masked = attention.head_heatmap(random_patterns(T), TOKENS, ~ALL, stretch=True, signed=signed).data[0]
    assert np.isnan(masked.z).all()
    assert masked.zmax > masked.zmin


def test_stretching_ends_the_scale_at_the_largest_weight_that_is_seen() -> None:
    pattern, allowed = random_patterns(T), np.tri(T, dtype=bool)
    heatmap = attention.head_heatmap(pattern, TOKENS, allowed, stretch=True).data[0]
    assert heatmap.zmin == 0
    assert heatmap.zmax == pytest.approx(pattern[allowed].max())
    assert attention.head_heatmap(np.zeros((T, T), np.float32), TOKENS, ALL, stretch=True).data[0].zmax > 0


def test_a_difference_diverges_from_zero() -> None:
    difference = random_patterns(T, seed=1) - random_patterns(T, seed=2)
    heatmap = attention.head_heatmap(difference, TOKENS, ALL, signed=True).data[0]
    assert -heatmap.zmin == heatmap.zmax == pytest.approx(np.abs(difference).max())
    assert heatmap.colorscale is not None
    assert np.array_equal(heatmap.z, difference)
    assert heatmap.colorbar.title.text == "difference"


# --- ranking, entropy


def test_the_ranking_falls_from_the_heaviest_weight() -> None:
    row = np.array([0.1, 0.3, 0.05, 0.4, 0.15, 0.0], dtype=np.float32)
    allowed = np.array([True, True, True, True, True, False])
    bar = attention.query_ranking(row, TOKENS, allowed).data[0]
    labels = token_labels(TOKENS)
    assert list(bar.y) == [labels[key] for key in (3, 1, 4, 0, 2)]
    assert np.array_equal(bar.x, row[[3, 1, 4, 0, 2]])
    top = attention.query_ranking(row, TOKENS, allowed, most=2)
    assert list(top.data[0].y) == [labels[3], labels[1]]
    assert top.layout.xaxis.title.text


def test_the_entropy_grid_is_the_entropies() -> None:
    bits = np.arange(12, dtype=np.float32).reshape(3, 4)
    figure = attention.entropy_grid(bits, (2, 1))
    assert np.array_equal(figure.data[0].z, bits)
    (frame,) = figure.layout.shapes
    assert (frame.x0, frame.x1, frame.y0, frame.y1) == (0.5, 1.5, 1.5, 2.5)
    assert figure.data[0].colorbar.title.text == "bits"


def test_no_picture_holds_a_tag_that_somebody_typed() -> None:
    pattern = np.full((T, T), 1 / T, dtype=np.float32)
    for figure in (
        attention.head_heatmap(pattern, TOKENS, ALL),
        attention.query_ranking(pattern[0], TOKENS, ALL[0]),
    ):
        assert "&lt;b&gt;" in text_of(figure).replace("\\u0026", "&").replace("\\u003c", "<").replace("\\u003e", ">")
        names = [name for trace in figure.data for axis in ("x", "y", "text") for name in _strings(trace, axis)]
        assert names
        assert not any("<" in name for name in names)


def _strings(trace: Any, axis: str) -> list[str]:
    values = getattr(trace, axis, None)
    return [value for value in (() if values is None else values) if isinstance(value, str)]


@pytest.mark.parametrize("tokens", [["a"], TOKENS, ["mmmmmmmmmmmmmmmmmmmm"], ["日本語" * 6], ["il" * 9]])
def test_a_heatmap_leaves_its_names_enough_room(tokens: list[str]) -> None:
    """Where there is too little, Plotly draws the chart twice; here against a font's own widths at 11.25 px."""
    n = len(tokens)
    pattern = np.full((n, n), 1 / n, dtype=np.float32)
    margin = attention.head_heatmap(pattern, tokens, np.ones((n, n), dtype=bool)).layout.margin
    longest = text_width(token_labels(tokens))
    assert margin.l > longest
    assert margin.b > 0.8 * longest
    short = attention.head_heatmap(np.ones((1, 1), dtype=np.float32), ["a"], np.ones((1, 1), dtype=bool)).layout.margin
    assert margin.l >= short.l
