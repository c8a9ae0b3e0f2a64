"""Position tables against the paper's formula, one entry at a time."""

import math

import pytest
import torch

from playground import Encoder
from playground.config import CHOICES
from playground.model.encoder import frequencies, sinusoids, wavelengths
from tests.model.reference import sinusoid, small_config, vectors

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


@pytest.mark.parametrize("positions", CHOICES["positions"])
def test_raw_vectors_get_the_first_rows_of_the_table(positions: str) -> None:
    model, x = Encoder(small_config(positions=positions)), vectors(2, 5, 24)
    table = model.embed.position_table()
    assert (table is None) == (positions == "none")
    assert table is None or table.shape == (8, 24)
    torch.testing.assert_close(model.embed_vectors(x), x if table is None else x + table[:5])


def test_a_table_is_no_weight() -> None:
    model = Encoder(small_config())
    assert [name for name in model.state_dict() if "sinusoids" in name] == []
    assert "embed.sinusoids" in dict(model.named_buffers())
