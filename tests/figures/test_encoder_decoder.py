"""Masks between two different sentences, as pictures."""

import numpy as np
import pytest

from playground.figures import palette
from playground.figures.attention import mask_heatmap
from playground.figures.theme import token_labels

QUERIES = ["[CLS]", "<b>", "kat", "[PAD]"]
KEYS = ["a", "&lt;", "cat", "cat", ".", "[PAD]"]


@pytest.mark.parametrize("value", [True, False])
def test_a_mask_names_both_sentences_and_its_colours_keep_their_meaning_where_only_one_occurs(value: bool) -> None:
    (heatmap,) = mask_heatmap(np.full((4, 6), value), QUERIES, KEYS, ("target token", "source token")).data
    assert heatmap.z.dtype == np.uint8
    assert (list(heatmap.y), list(heatmap.x)) == (token_labels(QUERIES), token_labels(KEYS))
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
