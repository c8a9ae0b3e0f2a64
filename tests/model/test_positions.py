"""Position tables against the paper's formula, one entry at a time."""

import math

import pytest
import torch

from playground import Encoder, ModelConfig
from playground.model.positions import frequencies, sinusoids, wavelengths
from tests.model.reference import sinusoid, vectors

WIDTHS = [1, 2, 5, 7, 16, 33]


@pytest.mark.parametrize("doubled", [False, True])
@pytest.mark.parametrize("d_model", WIDTHS)
def test_every_entry_is_the_formulas(d_model: int, doubled: bool) -> None:
    table = sinusoids(60, d_model, doubled=doubled)
    expected = [[sinusoid(p, c, d_model, doubled=doubled) for c in range(d_model)] for p in range(60)]
    assert table.dtype == torch.float32
    torch.testing.assert_close(table, torch.tensor(expected), atol=1e-7, rtol=0)


def test_far_positions_keep_their_digits() -> None:
    table = sinusoids(5_000, 64)
    expected = torch.tensor([sinusoid(4_999, column, 64, doubled=False) for column in range(64)])
    torch.testing.assert_close(table[4_999], expected, atol=1e-6, rtol=0)


@pytest.mark.parametrize("doubled", [False, True])
def test_a_pair_repeats_after_its_wavelength(doubled: bool) -> None:
    turns = wavelengths(12, doubled=doubled) * frequencies(12, doubled=doubled)
    torch.testing.assert_close(turns, torch.full((6,), 2 * math.pi, dtype=torch.float64))
    assert wavelengths(12, doubled=doubled)[0].item() == pytest.approx(2 * math.pi)


@pytest.mark.parametrize("positions", ["sinusoidal", "sinusoidal-doubled", "learned"])
def test_the_encoder_adds_the_first_rows_of_its_table(positions: str) -> None:
    config = ModelConfig(vocab_size=0, d_model=7, n_heads=1, n_layers=1, d_ff=4, max_len=9, positions=positions)  # type: ignore[arg-type]
    model, x = Encoder(config), vectors(2, 5, 7)
    table = model.embed.position_table()
    assert table is not None
    assert table.shape == (9, 7)
    torch.testing.assert_close(model.embed_vectors(x), x + table[:5])


def test_no_positions_add_nothing() -> None:
    model = Encoder(ModelConfig(vocab_size=0, d_model=6, n_heads=1, n_layers=1, d_ff=4, max_len=3, positions="none"))
    x = vectors(1, 8, 6)
    assert model.embed.position_table() is None
    assert torch.equal(model.embed_vectors(x), x)


def test_a_table_is_no_weight() -> None:
    model = Encoder(ModelConfig(vocab_size=3, d_model=6, n_heads=1, n_layers=1, d_ff=4, max_len=5))
    assert [name for name in model.state_dict() if "sinusoids" in name] == []
    assert "embed.sinusoids" in dict(model.named_buffers())
