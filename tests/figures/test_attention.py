"""Attention's pictures hold exactly the weights they were given."""

import numpy as np
import pytest
from numpy.typing import NDArray

from playground.figures import attention
from playground.figures.theme import text_width, token_labels

TOKENS = ["[CLS]", "<b>", "it", "it", "&lt;", "[SEP]"]
T = len(TOKENS)
ALL = np.ones((T, T), dtype=bool)


def random_patterns(*shape: int, seed: int = 0) -> NDArray[np.float32]:
    weights = np.random.default_rng(seed).random(shape) ** 4
    patterns: NDArray[np.float32] = (weights / weights.sum(axis=-1, keepdims=True)).astype(np.float32)
    return patterns


# --- the mosaic


@pytest.mark.parametrize(
    "shape", [(1, 1, 1, 1), (2, 3, 4, 4), (3, 2, 22, 22), (2, 2, 23, 23), (3, 5, 7, 22), (2, 3, 100, 23)]
)
def test_the_mosaic_has_each_heads_strongest_weights_in_its_share(shape: tuple[int, int, int, int]) -> None:
    """Bytes are square roots, with an empty row and column after each thumbnail; all thumbnails are equally large."""
    n_layers, n_heads, n_queries, n_keys = shape
    patterns = random_patterns(*shape)
    figure = attention.head_grid(patterns)
    (mosaic,) = figure.data
    block = -(-max(n_queries, n_keys) // attention.THUMBNAIL)
    height, width = -(-n_queries // block), -(-n_keys // block)
    assert mosaic.z.dtype == np.uint8
    assert max(height, width) <= attention.THUMBNAIL
    expected = np.zeros((n_layers * (height + 1), n_heads * (width + 1)), dtype=np.uint8)
    for layer, head, row, column in np.ndindex(n_layers, n_heads, height, width):
        rows, columns = (slice(i * block, (i + 1) * block) for i in (row, column))
        dot = patterns[layer, head, rows, columns].max()
        expected[layer * (height + 1) + row, head * (width + 1) + column] = np.uint8(255 * np.sqrt(dot))
    assert np.abs(mosaic.z.astype(int) - expected).max() <= 1  # the same but for the last bit of a float
    assert not mosaic.z[height :: height + 1].any()
    assert not mosaic.z[:, width :: width + 1].any()
    x_axis, y_axis = figure.layout.xaxis, figure.layout.yaxis
    assert (x_axis.range, y_axis.range) == ((-0.5, expected.shape[1] - 0.5), (expected.shape[0] - 0.5, -0.5))
    assert [int(x // (width + 1)) for x in x_axis.tickvals] == list(range(n_heads))
    assert [int(y // (height + 1)) for y in y_axis.tickvals] == list(range(n_layers))
    assert list(y_axis.ticktext) == [str(layer) for layer in range(n_layers)]


def test_full_and_no_weight_are_the_ends_of_the_scale() -> None:
    figure = attention.head_grid(np.eye(3, dtype=np.float32)[None, None])
    heatmap = figure.data[0]
    assert (heatmap.zmin, heatmap.zmax) == (0, 255)
    assert heatmap.z[:3, :3].tolist() == (255 * np.eye(3)).tolist()
    ticks = dict(zip(heatmap.colorbar.ticktext, heatmap.colorbar.tickvals, strict=True))
    assert ticks["1"] == 255
    assert ticks["0.25"] == pytest.approx(127.5)


def test_short_patterns_are_shown_dot_by_dot_and_long_ones_never_lose_a_peak() -> None:
    short = random_patterns(1, 1, attention.THUMBNAIL, attention.THUMBNAIL)
    assert attention.shrink(short) is short
    long = np.zeros((1, 1, 100, 100), dtype=np.float32)
    long[0, 0, 99, 57] = 0.75
    dots = attention.shrink(long)
    assert dots.shape == (1, 1, 20, 20)
    assert dots[0, 0, 19, 11] == 0.75
    assert dots.sum() == 0.75


@pytest.mark.parametrize("top", [1.0, 0.25])
@pytest.mark.parametrize("square_root", [False, True])
def test_a_weight_has_the_same_colour_in_the_thumbnail_and_in_the_large_map(square_root: bool, top: float) -> None:
    pattern, scale = random_patterns(T, T), attention.WeightScale(square_root=square_root, top=top)
    small = attention.head_grid(pattern[None, None], scale=scale).data[0]
    large = attention.head_heatmap(pattern, TOKENS, ALL, scale=scale).data[0]
    places = np.clip(large.z / large.zmax, 0, 1)
    exact = np.clip(pattern / top, 0, 1) ** (0.5 if square_root else 1)
    np.testing.assert_allclose(small.z[:T, :T] / 255, exact, atol=1 / 255)
    np.testing.assert_allclose(places, exact, atol=1 / 512 if square_root else 1e-6)
    assert (places.max() == 1) == (top < 1)
    shown = large.customdata if square_root else large.z
    np.testing.assert_array_equal(shown, pattern)
    for bar, length in ((small.colorbar, 255), (large.colorbar, 1)):
        if bar.tickvals is not None:
            weights = np.array([float(text) for text in bar.ticktext])
            np.testing.assert_allclose(np.array(bar.tickvals) / length, scale.places(weights), atol=1e-6)


def test_thumbnails_of_no_tokens_are_the_gaps_between_them() -> None:
    assert attention.head_grid(np.zeros((2, 3, 0, 0), np.float32)).data[0].z.shape == (2, 3)


# --- the large heatmap


@pytest.mark.parametrize("signed", [False, True])
def test_nothing_to_show_is_an_empty_figure(signed: bool) -> None:
    nothing = np.zeros(T, dtype=bool)
    assert attention.head_heatmap(random_patterns(T, T), TOKENS, ALL, shown=nothing, signed=signed).data[0].z.size == 0
    masked = attention.head_heatmap(random_patterns(T, T), TOKENS, ~ALL, signed=signed).data[0]
    assert np.isnan(masked.z).all()
    assert masked.zmax > masked.zmin
    assert masked.hoverongaps is False


def test_a_stretched_scale_ends_at_the_largest_weight_that_is_seen() -> None:
    pattern, allowed = random_patterns(T, T), np.tri(T, dtype=bool)
    stretched = attention.head_heatmap(pattern, TOKENS, allowed).data[0]
    assert (stretched.zmin, stretched.zmax) == (0, pytest.approx(pattern[allowed].max()))
    assert attention.head_heatmap(np.zeros((T, T), np.float32), TOKENS, ALL).data[0].zmax > 0


@pytest.mark.parametrize("value", [0.0, np.nan, np.inf])
def test_a_scale_has_a_length_whatever_the_numbers(value: float) -> None:
    square = np.full((T, T), value, dtype=np.float32)
    for signed in (False, True):
        heatmap = attention.head_heatmap(square, TOKENS, ALL, signed=signed).data[0]
        assert heatmap.zmin < heatmap.zmax < np.inf


# --- ranking, entropy


def test_the_ranking_falls_from_the_heaviest_weight() -> None:
    row = np.array([0.1, 0.3, 0.05, 0.4, 0.15, 0.0], dtype=np.float32)
    allowed = np.array([True, True, True, True, True, False])
    assert attention.ranked_keys(row, allowed) == [3, 1, 4, 0, 2]
    assert attention.ranked_keys(row, allowed, most=2) == [3, 1]


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
