"""Dropout is what torch does in train mode, leaves shared models alone, and is the same for the same seed."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from playground import Encoder, ModelConfig
from playground.presets import PRESETS
from playground.runs.encoder_run import DROPOUT_PLACES, TUTORIAL_DROPOUTS, DroppedRun, run_with_dropout
from playground.text import Batch, characters

CONFIG = ModelConfig(
    vocab_size=characters().vocab_size, d_model=16, n_heads=4, n_layers=3, d_ff=40, max_len=16, dropout=0.25
)


@pytest.fixture
def model() -> Encoder:
    return Encoder(CONFIG, seed=2)


@pytest.fixture
def batch() -> Batch:
    return characters().encode_batch(["a sentence", "another"])


def same(one: DroppedRun, other: DroppedRun) -> bool:
    pairs = zip(one.run.arrays.values(), other.run.arrays.values(), strict=True)
    return all(np.array_equal(a, b) for a, b in pairs)


@pytest.mark.parametrize("layer", [0, 2])
def test_every_drop_is_a_zero_or_a_division(model: Encoder, batch: Batch, layer: int) -> None:
    result = run_with_dropout(model, batch, 0, layer, seed=5)
    assert list(result.drops) == list(DROPOUT_PLACES)
    shapes = [drop.before.shape for drop in result.drops.values()]
    assert shapes == [(10, 16), (4, 10, 10), (10, 16), (10, 40), (10, 16)]
    for drop in result.drops.values():
        kept = drop.after != 0
        np.testing.assert_allclose(drop.after[kept], drop.before[kept] / 0.75, rtol=1e-6)
        dropped = (~kept & (drop.before != 0)).sum() / (drop.before != 0).sum()
        assert 0.1 < dropped < 0.4


@pytest.mark.parametrize("layer", [0, 2])
def test_the_drops_are_those_of_the_layer(model: Encoder, batch: Batch, layer: int) -> None:
    result = run_with_dropout(model, batch, 0, layer, seed=5)
    arrays, name = result.run.arrays, f"layers.{layer}"
    assert np.array_equal(result.drops["after positions"].after, arrays["embed.out"])
    weights = result.drops["attention weights"]
    assert np.array_equal(weights.before, arrays[f"{name}.attn.pattern"])
    np.testing.assert_allclose(weights.after @ arrays[f"{name}.attn.v"], arrays[f"{name}.attn.z"], atol=1e-5)
    assert np.array_equal(result.drops["after attention"].after, arrays[f"{name}.attn.out"])
    assert np.array_equal(result.drops["inside the feed-forward"].before, arrays[f"{name}.ffn.hidden"])
    assert np.array_equal(result.drops["after the feed-forward"].after, arrays[f"{name}.ffn.out"])


def test_the_shared_model_and_torchs_random_state_stay_as_they_are(model: Encoder, batch: Batch) -> None:
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    output, state = model(batch.ids, batch.mask), torch.get_rng_state()
    run_with_dropout(model, batch, 0, 1, seed=1)
    assert not any(module.training for module in model.modules())
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.equal(model(batch.ids, batch.mask), output)
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())


def test_the_weights_are_not_copied(model: Encoder, batch: Batch, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(tensor: torch.Tensor, memo: object) -> None:
        raise AssertionError(f"A copy of {tuple(tensor.shape)}")

    for kind in (torch.Tensor, torch.nn.Parameter):
        monkeypatch.setattr(kind, "__deepcopy__", refuse)
    assert run_with_dropout(model, batch, 0, 0, seed=1).drops


def test_a_seed_means_the_same_drops_whatever_was_drawn_before(model: Encoder, batch: Batch) -> None:
    one = run_with_dropout(model, batch, 1, 1, seed=3, causal=True)
    torch.manual_seed(99)
    assert same(one, run_with_dropout(model, batch, 1, 1, seed=3, causal=True))
    assert not same(one, run_with_dropout(model, batch, 1, 1, seed=4, causal=True))


def test_without_a_probability_nothing_is_dropped(batch: Batch) -> None:
    model = Encoder(replace(CONFIG, dropout=0.0), seed=2)
    result = run_with_dropout(model, batch, 0, 0, seed=1)
    assert all(np.array_equal(drop.before, drop.after) for drop in result.drops.values())


def test_where_the_tutorials_drop() -> None:
    assert TUTORIAL_DROPOUTS["A"] == TUTORIAL_DROPOUTS["D"] == tuple(DROPOUT_PLACES)
    assert TUTORIAL_DROPOUTS["B"] == ()
    assert [PRESETS[f"tutorial-{letter}"].config.dropout for letter in "abcde"] == [0.1, 0, 0.1, 0.1, 0.1]
    assert set(TUTORIAL_DROPOUTS["C"]) == set(DROPOUT_PLACES) - {"after positions", "attention weights"}
    assert set(TUTORIAL_DROPOUTS["E"]) == set(DROPOUT_PLACES) - {"attention weights"}
