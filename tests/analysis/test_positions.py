"""Position tables read, added and left out."""

import copy
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from playground import Encoder, ModelConfig
from playground.analysis import positions
from playground.config import Positions
from playground.model.positions import sinusoids
from playground.text import words
from playground.text.wording import number
from tests.model.strategies import MAX_LEN

SENTENCES = ["one two three four", "two one"]
BATCH = words(SENTENCES).encode_batch(SENTENCES)
SMALL = ModelConfig(vocab_size=4, d_model=8, n_heads=2, n_layers=2, d_ff=16, max_len=MAX_LEN)
KINDS: list[Positions] = ["sinusoidal", "sinusoidal-doubled", "learned", "none"]


@pytest.mark.parametrize("d_model", [7, 8])
@pytest.mark.parametrize("kind", KINDS)
def test_the_first_rows_are_the_models_own(kind: Positions, d_model: int) -> None:
    config = replace(SMALL, positions=kind, d_model=d_model, n_heads=1)
    encoder = Encoder(config)
    rows = positions.first_rows(encoder, 5)
    expected = sinusoids(5, d_model) if kind == "none" else encoder.embed.position_vectors(5).detach()
    np.testing.assert_array_equal(rows, expected.numpy())
    assert not rows.flags.writeable
    assert positions.first_rows(encoder, 100).shape == (MAX_LEN, d_model)
    assert not np.shares_memory(rows, expected.numpy())


def test_distances_are_those_of_each_pair() -> None:
    rows = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
    expected = [[math.dist(one, other) for other in rows] for one in rows]
    np.testing.assert_allclose(positions.distances(rows), expected, atol=1e-6)


def test_addition_compares_lengths_and_directions() -> None:
    tokens = np.array([[3, 4], [0, 0], [1, 0]], np.float32)
    rows = np.array([[0, 5], [1, 0], [-1, 0]], np.float32)
    relative, cosine = positions.addition(tokens, rows)
    np.testing.assert_allclose(relative, [1, math.inf, 1])
    np.testing.assert_allclose(cosine, [45 / (5 * math.hypot(3, 9)), math.nan, math.nan], rtol=1e-6)


def swapped_in_float64(encoder: Encoder, first: int, second: int, *, causal: bool) -> tuple[np.ndarray, float]:
    """How far the four words' outputs move, and how far apart they are, computed in float64 throughout."""
    model, ids = copy.deepcopy(encoder).double(), BATCH.ids[:1]
    order = list(range(4))
    order[first], order[second] = second, first
    mask = torch.ones(1, 4, 4).tril().bool() if causal else None
    with torch.inference_mode():
        before, after = model(ids, mask)[0], model(ids[:, order], mask)[0][order]
    apart = max(float((a - b).abs().max()) for a in before for b in before)
    return (before - after).abs().amax(dim=-1).numpy(), apart


DEEP: dict[str, Any] = {"positions": "none", "n_layers": 24}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("changes", [{}, DEEP, DEEP | {"residual": False, "norm_placement": "pre"}], ids=str)
def test_a_swap_is_computed_in_float64(changes: dict[str, Any], causal: bool) -> None:
    encoder = Encoder(replace(SMALL, final_norm=True, **changes), seed=1)
    swap = positions.swap_words(encoder, BATCH, 0, 1, 3, causal=causal)
    bare, apart = swapped_in_float64(positions.with_positions(encoder, "none"), 1, 3, causal=causal)
    np.testing.assert_allclose(swap.bare, bare, rtol=1e-6, atol=1e-12 * swap.size)
    assert swap.spread == pytest.approx(apart, rel=1e-6, abs=1e-12 * swap.size)
    if not changes:
        placed, _ = swapped_in_float64(encoder, 1, 3, causal=causal)
        np.testing.assert_allclose(swap.placed, placed, rtol=1e-5)
        with torch.inference_mode():
            outputs = encoder(BATCH.ids[:1], torch.ones(1, 4, 4).tril().bool() if causal else None)
        assert swap.placed_size == pytest.approx(float(outputs.abs().max()), rel=1e-5)


def test_under_a_causal_mask_the_order_is_never_lost_however_little_is_left_of_it() -> None:
    config = replace(SMALL, positions="none", n_layers=24, residual=False, norm_placement="pre")
    swap = positions.swap_words(Encoder(config), BATCH, 0, 1, 3, causal=True)
    assert swap.rounding < swap.bare.max() < 1e-5 * swap.size, "which float32 would take for rounding"
    bare = positions.swap_words(Encoder(config), BATCH, 0, 1, 3)
    assert bare.bare.max() <= bare.rounding


def test_padding_is_masked_and_left_out() -> None:
    encoder = Encoder(SMALL)
    alone = words(SENTENCES).encode_batch(SENTENCES[1:])
    padded, single = positions.swap_words(encoder, BATCH, 1, 0, 1), positions.swap_words(encoder, alone, 0, 0, 1)
    assert padded.placed.shape == (2,)
    np.testing.assert_allclose(padded.placed, single.placed, atol=1e-5)
    for place in (2, -1):
        with pytest.raises(ValueError, match="A sentence of 2 tokens has none"):
            positions.swap_words(encoder, BATCH, 1, 0, place)


@pytest.mark.parametrize("dimension", [0, 1, 4, 6])
@pytest.mark.parametrize("kind", ["sinusoidal", "sinusoidal-doubled"])
def test_formulas_numbers_are_the_tables(kind: Positions, dimension: int) -> None:
    rows = positions.first_rows(Encoder(replace(SMALL, positions=kind, d_model=7, n_heads=1)), 9)
    latex = positions.formula_with_numbers(kind, rows, 5, dimension)
    times = 2 if kind == "sinusoidal-doubled" else 1
    angle = 5 / 10_000 ** (times * (dimension - dimension % 2) / 7)
    wave, name = (math.cos, r"\cos") if dimension % 2 else (math.sin, r"\sin")
    assert latex.endswith(f"= {name}({number(angle)}) = {number(rows[5, dimension])}")
    assert rows[5, dimension] == pytest.approx(wave(angle), abs=1e-6)
    exponent = (r"2 \cdot " if times == 2 else "") + f"{dimension - dimension % 2}/7"
    assert rf"P_{{5,\,{dimension}}} = {name}\frac{{5}}{{10000^{{{exponent}}}}}" in latex
