"""Masks and attention between two different sentences, as pictures."""

import numpy as np
import plotly.graph_objects as go
import pytest
from numpy.typing import NDArray

from playground.figures import attention, palette
from playground.figures.encoder_decoder import mask_heatmap
from playground.figures.theme import token_labels

QUERIES = ["[CLS]", "<b>", "kat", "[PAD]"]
KEYS = ["a", "&lt;", "cat", "cat", ".", "[PAD]"]


def between(n_queries: int, n_keys: int, n_layers: int = 2, n_heads: int = 3) -> NDArray[np.float32]:
    """Patterns between two sentences."""
    weights = np.random.default_rng(n_queries).random((n_layers, n_heads, n_queries, n_keys)) ** 4
    patterns: NDArray[np.float32] = (weights / weights.sum(axis=-1, keepdims=True)).astype(np.float32)
    return patterns


def picture(mask: NDArray[np.bool_]) -> go.Figure:
    return mask_heatmap(mask, QUERIES, KEYS, ("target token", "source token"))


def test_a_masks_picture_is_the_mask() -> None:
    mask = np.random.default_rng(0).random((4, 6)) > 0.5
    figure = picture(mask)
    (heatmap,) = figure.data
    assert heatmap.z.dtype == np.uint8
    assert np.array_equal(heatmap.z, mask)
    assert (list(heatmap.y), list(heatmap.x)) == (token_labels(QUERIES), token_labels(KEYS))
    assert "<b>" not in heatmap.y[1]
    assert figure.layout.yaxis.autorange == "reversed"
    assert (figure.layout.yaxis.title.text, figure.layout.xaxis.title.text) == (
        "query: target token",
        "key: source token",
    )


@pytest.mark.parametrize("value", [True, False])
def test_a_masks_two_colours_keep_their_meaning_where_only_one_occurs(value: bool) -> None:
    (heatmap,) = picture(np.full((4, 6), value)).data
    assert (heatmap.zmin, heatmap.zmax) == (0, 1)
    colours = [colour for _, colour in heatmap.colorscale]
    assert (colours[0], colours[-1]) == (palette.MUTED, palette.ATTENTION)


@pytest.mark.parametrize("n_tokens", [1, 8, 9, 256])
def test_few_positions_are_named(n_tokens: int) -> None:
    tokens = ["x"] * n_tokens
    figure = mask_heatmap(np.tri(n_tokens, dtype=bool), tokens, tokens, ("target token", "target token"))
    for axis in (figure.layout.xaxis, figure.layout.yaxis):
        assert 1 <= len(axis.tickvals) <= 8
        assert [str(value) for value in axis.tickvals] == list(axis.ticktext)
    assert figure.data[0].xgap == figure.data[0].ygap == (0 if n_tokens == 256 else 1)


@pytest.mark.parametrize(("n_queries", "n_keys"), [(3, 5), (5, 3), (22, 7), (23, 100), (100, 23), (1, 50)])
def test_thumbnails_between_two_sentences_hold_the_strongest_weights(n_queries: int, n_keys: int) -> None:
    patterns = between(n_queries, n_keys)
    figure = attention.head_grid(patterns)
    mosaic, markers = figure.data
    block = -(-max(n_queries, n_keys) // attention.THUMBNAIL)
    height, width = -(-n_queries // block), -(-n_keys // block)
    assert mosaic.z.shape == (2 * (height + 1), 3 * (width + 1))
    for layer, head in np.ndindex(2, 3):
        top, left = layer * (height + 1), head * (width + 1)
        thumbnail = mosaic.z[top : top + height, left : left + width].astype(int)
        assert abs(thumbnail.max() - int(255 * np.sqrt(patterns[layer, head].max()))) <= 1
        peak = np.unravel_index(patterns[layer, head].argmax(), (n_queries, n_keys))
        assert thumbnail[peak[0] // block, peak[1] // block] == thumbnail.max()
        marker = layer * 3 + head
        assert (markers.y[marker] // (height + 1), markers.x[marker] // (width + 1)) == (layer, head)


def test_a_pattern_between_two_sentences_names_both() -> None:
    pattern, allowed = between(4, 6)[0, 0], np.ones((4, 6), dtype=bool)
    allowed[3] = False
    (heatmap,) = attention.head_heatmap(pattern, QUERIES, allowed, keys=KEYS).data
    assert (list(heatmap.y), list(heatmap.x)) == (token_labels(QUERIES), token_labels(KEYS))
    assert np.array_equal(heatmap.z[:3], pattern[:3])
    assert np.isnan(heatmap.z[3]).all()
