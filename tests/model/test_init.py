"""A seed means the same weights everywhere; the random numbers are as random as they should be."""

import hashlib
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from playground import Encoder, EncoderDecoder, ModelConfig
from playground.config import Initialisation
from playground.model.init import TILE, fill_normal, fill_uniform, standard_normal
from playground.training.network import Tagger

CONFIG = ModelConfig(
    vocab_size=11, d_model=12, n_heads=3, n_layers=2, d_ff=20, max_len=8,
    positions="learned", n_segments=2, embedding_norm=True, final_norm=True,
)  # fmt: skip
GOLDEN = {
    "xavier": "55351c768ab8",
    "torch": "87a7da8f8a38",
}
"""The first digits of the SHA-256 of all names and numbers, by scheme."""


def weights(config: ModelConfig, seed: int = 0) -> dict[str, torch.Tensor]:
    return dict(Encoder(config, seed).state_dict())


def drawn(tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Those that are drawn at random: every weight, no bias, no gain."""
    return {name: tensor for name, tensor in tensors.items() if name.endswith("weight")}


@pytest.mark.parametrize("global_seed", [1, 2])
@pytest.mark.parametrize("scheme", GOLDEN)
def test_weights_are_these_bits_on_every_machine_whatever_torchs_own_generator_did(
    scheme: Initialisation, global_seed: int
) -> None:
    torch.manual_seed(global_seed)
    before, digest = torch.get_rng_state(), hashlib.sha256()
    larger_than_a_tile = replace(CONFIG, vocab_size=600, d_model=72, initialisation=scheme)
    for name, tensor in weights(larger_than_a_tile).items():
        digest.update(name.encode())
        digest.update(tensor.numpy().astype("<f4").tobytes())
    assert digest.hexdigest()[:12] == GOLDEN[scheme]
    assert torch.equal(torch.get_rng_state(), before)
    assert all(parameter.is_meta for parameter in Encoder(CONFIG, seed=None).parameters())
    assert torch.equal(torch.get_rng_state(), before)


def test_no_two_matrices_start_alike_in_a_model_or_under_two_seeds() -> None:
    models = [dict(EncoderDecoder(CONFIG, 13, seed).state_dict()) for seed in (0, 0, 1)]
    first, again, other = map(drawn, models)
    assert all(torch.equal(first[name], again[name]) for name in first)
    starts = {tuple(matrix.flatten()[:4].tolist()) for matrix in (*first.values(), *other.values())}
    assert len(starts) == 2 * len(first)
    assert all(torch.equal(models[0][f"encoder.{name}"], tensor) for name, tensor in weights(CONFIG).items())


@pytest.mark.parametrize("scheme", GOLDEN)
@pytest.mark.parametrize(
    "change",
    [
        {"n_layers": 4, "final_norm": False, "norm": "rms", "activation": "gelu"},
        {"n_heads": 6, "vocab_size": 0, "positions": "none", "n_segments": 0, "embedding_norm": False},
    ],
    ids=str,
)
def test_a_tensor_is_the_same_whatever_else_the_model_has(scheme: Initialisation, change: dict[str, Any]) -> None:
    config = replace(CONFIG, initialisation=scheme)
    one, other = (weights(each) for each in (config, replace(config, **change)))
    common = [name for name in one.keys() & other.keys() if "norm" not in name]
    assert len(common) == sum("norm" not in name for name in min(one, other, key=len))
    assert all(torch.equal(one[name], other[name]) for name in common)


def test_a_model_around_an_encoder_has_its_weights_and_others_of_its_own() -> None:
    config = replace(CONFIG, vocab_size=13, initialisation="torch")
    encoder, pair = weights(config), dict(EncoderDecoder(config, 13).state_dict())
    tagger = dict(Tagger(config, 5).state_dict())
    for around in (pair, tagger):
        assert all(torch.equal(around[f"encoder.{name}"], tensor) for name, tensor in encoder.items())
    assert not torch.equal(pair["decoder.layers.0.self_attn.q.weight"], encoder["layers.0.attn.q.weight"])
    assert not torch.equal(pair["decoder.embed.tokens.weight"], encoder["embed.tokens.weight"])
    wider = dict(Tagger(config, 9).state_dict())
    assert torch.equal(tagger["head.weight"], wider["head.weight"][:5])


@pytest.mark.parametrize("scheme", GOLDEN)
@pytest.mark.parametrize("n_heads", [1, 2, 3])
def test_a_fused_projection_computes_what_three_apart_do(scheme: Initialisation, n_heads: int) -> None:
    apart = replace(CONFIG, n_heads=n_heads, initialisation=scheme)
    fused = replace(apart, fused_qkv=True)
    x = torch.randn(2, 5, 12, generator=torch.Generator().manual_seed(0))
    projected = (Encoder(config).layers[1].attn.project(x) for config in (apart, fused))  # type: ignore[operator, union-attr]
    for one, other in zip(*projected, strict=True):
        torch.testing.assert_close(one, other)


def test_threads_change_no_bit() -> None:
    before, config = torch.get_num_threads(), replace(CONFIG, d_model=300, vocab_size=2000, initialisation="torch")
    tensors = []
    try:
        for n_threads in (1, 4):
            torch.set_num_threads(n_threads)
            tensors.append(weights(config))
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(tensors[0][name], tensors[1][name]) for name in tensors[0])


def bounds() -> dict[str, float]:
    """Glorot & Bengio 2010, equation 16: √(6 / (fan in + fan out)); tables: √3 deviations of 1 / √width."""
    square, wide, table = math.sqrt(6 / 24), math.sqrt(6 / 32), math.sqrt(3 / 12)
    of_layer = dict.fromkeys((f"attn.{part}" for part in "qkvo"), square) | {"ffn.up": wide, "ffn.down": wide}
    tables = {f"embed.{name}": table for name in ("tokens", "positions", "segments")}
    return tables | {f"layers.{i}.{name}": bound for i in (0, 1) for name, bound in of_layer.items()}


def test_every_weight_fills_its_bound() -> None:
    tensors = drawn(weights(CONFIG))
    expected = bounds()
    assert {name.removesuffix(".weight") for name in tensors} == set(expected)
    for name, bound in expected.items():
        largest = tensors[f"{name}.weight"].abs().max().item()
        assert 0.85 * bound < largest <= bound, name


def test_torchs_scheme_draws_what_torchs_constructors_draw() -> None:
    config = replace(CONFIG, d_model=96, d_ff=384, vocab_size=500, initialisation="torch")
    torch.manual_seed(0)
    reference = {"attn.q": nn.Linear(96, 96), "ffn.up": nn.Linear(96, 384), "ffn.down": nn.Linear(384, 96)}
    tensors = weights(config)
    for name, linear in reference.items():
        for kind, theirs in linear.named_parameters():
            ours = tensors[f"layers.0.{name}.{kind}"]
            assert ours.shape == theirs.shape
            assert ours.abs().max().item() == pytest.approx(theirs.abs().max().item(), rel=0.05)
            assert ours.std().item() == pytest.approx(theirs.std().item(), rel=0.15)
    table = nn.Embedding(500, 96).weight
    assert tensors["embed.tokens.weight"].std().item() == pytest.approx(table.std().item(), rel=0.02)
    assert tensors["embed.tokens.weight"].abs().max() > 3  # normal, where a uniform draw of this width ends at 1.73
    assert (tensors["layers.0.norm1.gain"] == 1).all()


def test_seed_none_still_has_its_position_table() -> None:
    model = Encoder(replace(CONFIG, positions="sinusoidal"), seed=None)
    table = model.embed.position_table()
    assert table is not None
    assert torch.equal(table, Encoder(replace(CONFIG, positions="sinusoidal")).embed.sinusoids)


Fill = Callable[[np.ndarray, int, str, float], None]
FILLS = [fill_uniform, fill_normal]
ROWS, COLUMNS = TILE


def filled(fill: Fill, rows: int, columns: int, seed: int = 0, name: str = "a", size: float = 1.0) -> np.ndarray:
    matrix = np.full((rows, columns), np.nan, np.float32)
    fill(matrix, seed, name, size)
    return matrix


@pytest.mark.parametrize("fill", FILLS)
@pytest.mark.parametrize(
    "shape",
    [(1, 1), (3, 5), (1, 2 * COLUMNS + 1), (ROWS + 1, 1), (ROWS, COLUMNS), (ROWS - 1, COLUMNS + 1), (2 * ROWS, 9)],
    ids=str,
)
def test_a_smaller_matrix_is_the_corner_of_a_larger_one(fill: Fill, shape: tuple[int, int]) -> None:
    rows, columns = shape
    large = filled(fill, 2 * ROWS + 7, 2 * COLUMNS + 7)
    assert np.array_equal(filled(fill, rows, columns), large[:rows, :columns])


@pytest.mark.parametrize("fill", FILLS)
def test_sizes_scale_every_number(fill: Fill) -> None:
    one, half, third = (filled(fill, 40, 70, size=size) for size in (1, 0.5, 1 / 3))
    assert np.array_equal(half, one / 2)
    np.testing.assert_allclose(third, one / 3, rtol=2e-7)


@pytest.mark.parametrize("fill", FILLS)
def test_a_part_of_a_larger_memory_is_filled_and_nothing_else(fill: Fill) -> None:
    memory = np.zeros((ROWS + 20, 100), np.float32)
    fill(memory[10:-10, 7:90], 0, "a", 1.0)
    assert np.array_equal(memory[10:-10, 7:90], filled(fill, ROWS, 83))
    assert np.count_nonzero(memory) == np.count_nonzero(memory[10:-10, 7:90])


def test_uniform_numbers_are_spread_evenly() -> None:
    numbers = filled(fill_uniform, 1000, 500, size=0.25).ravel()
    assert np.abs(numbers).max() <= 0.25
    counts, _ = np.histogram(numbers, bins=100, range=(-0.25, 0.25))
    assert ((counts - 5000) ** 2 / 5000).sum() < 149  # χ² of 99 degrees of freedom: one in a thousand is larger


def test_normal_numbers_have_the_moments_and_tails_of_the_normal_distribution() -> None:
    numbers = filled(fill_normal, 1000, 1000).ravel().astype(np.float64)
    assert [(numbers**k).mean() for k in (1, 2, 3, 4)] == pytest.approx([0, 1, 0, 3], abs=0.03)
    for limit in (0.5, 1, 2, 3, 4):
        expected = math.erfc(limit / math.sqrt(2)) * numbers.size
        assert abs((np.abs(numbers) > limit).sum() - expected) < 4 * math.sqrt(expected)


def test_normal_numbers_are_box_and_mullers() -> None:
    low, high = -(2**31), 2**31 - 1
    edges = [low, low + 1, -(2**30), -1, 0, 1, 2**30, high - 1, high]
    random = np.random.default_rng(0).integers(low, high, (1000, 2)).tolist()
    integers = np.array([[a, b] for a in edges for b in edges] + random, np.int32)
    u = (integers[:, 0] + (2.0**31 + 0.5)) / 2.0**32
    angle = integers[:, 1] * (math.pi / 2.0**31)
    radius = np.sqrt(-2 * np.log(u))
    expected = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    np.testing.assert_allclose(standard_normal(integers), expected, rtol=0, atol=2e-9)


@pytest.mark.parametrize("fill", FILLS)
def test_no_two_matrices_rows_columns_or_tiles_go_together(fill: Fill) -> None:
    by_seed_and_name = [
        filled(fill, ROWS, COLUMNS, seed, name)
        for seed, name in ((0, "a"), (1, "a"), (10, "a"), (0, "b"), (-1, "a"), (2**63 - 1, "a"))
    ]
    large = filled(fill, 2 * ROWS, 2 * COLUMNS, name="large")
    tiles = [large[i : i + ROWS, j : j + COLUMNS] for i in (0, ROWS) for j in (0, COLUMNS)]
    rows = np.corrcoef(large[:200])
    columns = np.corrcoef(large[:, :100].T)
    between = np.corrcoef([matrix.ravel() for matrix in (*by_seed_and_name, *tiles)])
    for correlations, n in ((rows, 2 * COLUMNS), (columns, 2 * ROWS), (between, ROWS * COLUMNS)):
        others = correlations[~np.eye(len(correlations), dtype=bool)]
        assert np.abs(others).max() < 5.5 / math.sqrt(n)
