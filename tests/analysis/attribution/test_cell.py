"""A cell's products, rivals and what it moves, against the model's own numbers."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from playground import Encoder, ModelConfig
from playground.analysis.attribution import compete, destination, head_maps, move, multiply
from playground.analysis.walkthrough import Walk
from playground.model.blocks import EncoderBlock
from playground.text import characters
from tests.analysis.attribution.walks import small_encoder, walk_through
from tests.model.strategies import configs


def block_of(encoder: Encoder, layer: int) -> EncoderBlock:
    block = encoder.layers[layer]
    assert isinstance(block, EncoderBlock)
    return block


def test_the_products_add_up_to_the_score_from_the_largest_on() -> None:
    walk = walk_through(small_encoder(), 1, 2, 3, 4)
    found = multiply(walk)
    q, k = walk.of_query("attn.q"), walk.layer["attn.k"][2, 4]
    np.testing.assert_allclose(found.products, q[found.numbers] * k[found.numbers])
    assert sorted(found.numbers) == list(range(4))
    assert (np.diff(np.abs(found.products)) <= 0).all()
    np.testing.assert_allclose(found.running, [found.products[: i + 1].sum() for i in range(4)])
    assert found.running[-1] / 2 == pytest.approx(walk.layer["attn.scores"][2, 3, 4])


@pytest.mark.parametrize("causal", [False, True])
def test_the_softmax_is_the_competition(causal: bool) -> None:
    walk = walk_through(small_encoder(), 0, 1, 3, 2, causal=causal)
    found = compete(walk)
    pattern = walk.of_query("attn.pattern")
    assert sorted(found.keys) == list(range(4 if causal else 6))
    assert (np.diff(found.weights) <= 0).all()
    np.testing.assert_allclose(found.weights, pattern[found.keys])
    np.testing.assert_allclose(np.exp(found.lead), pattern[2] / found.weights, rtol=1e-9)
    assert found.rank == 1 + int((pattern > pattern[2]).sum())
    assert found.best_other is not None
    others = [key for key in found.keys if key != 2]
    assert found.keys[found.best_other] == max(others, key=lambda key: pattern[key])


def test_a_single_key_has_no_rival_and_a_hidden_one_does_not_compete() -> None:
    first = compete(walk_through(small_encoder(), 0, 0, 0, 0, causal=True))
    assert (first.rank, first.best_other, first.weights.tolist()) == (1, None, [1])
    with pytest.raises(ValueError, match="hidden"):
        compete(walk_through(small_encoder(), 0, 0, 0, 3, causal=True))


@settings(max_examples=40)
@given(config=configs(vocab_size=characters().vocab_size), data=st.data())
def test_what_a_weight_moves_is_what_the_model_loses_without_it(config: ModelConfig, data: st.DataObject) -> None:
    """Attention's output with the one weight at 0 differs by what that weight wrote, at the token it was written to."""
    encoder = small_encoder(**vars(config))
    layer, head = data.draw(st.integers(0, config.n_layers - 1)), data.draw(st.integers(0, config.n_heads - 1))
    walk = walk_through(encoder, layer, head, data.draw(st.integers(0, 5)), data.draw(st.integers(0, 5)))
    found = move(walk, head_maps(encoder, layer, head, destination(walk)[1]))
    attn = block_of(encoder, layer).attn
    pattern = torch.tensor(walk.layer["attn.pattern"])[None].clone()
    v = torch.tensor(walk.layer["attn.v"])[None]
    with torch.no_grad():
        whole = attn.o(attn.merge(pattern @ v))[0]
        pattern[0, head, walk.query, walk.key] = 0
        lost = (whole - attn.o(attn.merge(pattern @ v))[0]).numpy()
    lengths = np.linalg.norm(lost, axis=-1)
    assert found.written_norm == pytest.approx(lengths.max(), abs=1e-9)
    if lengths.max() > 1e-9:
        assert int(lengths.argmax()) == found.token
    output = walk.layer["attn.out"][found.token]
    assert found.output_share == pytest.approx(lost[found.token] @ output / (output @ output), abs=1e-7)
    z = walk.of_query("attn.z")
    assert found.head_shares.sum() == pytest.approx(1)
    share = walk.of_query("attn.pattern")[walk.key] * walk.layer["attn.v"][head, walk.key] @ z / (z @ z)
    assert found.head_shares[walk.key] == pytest.approx(share, abs=1e-7)
    if config.residual:
        mid = walk.layer["resid_mid"][found.token] - output
        assert found.stream_norm == pytest.approx(np.linalg.norm(mid), rel=1e-6)
    else:
        assert math.isnan(found.stream_share)


def test_a_head_that_moves_nothing_has_no_shares() -> None:
    encoder = small_encoder()
    with torch.no_grad():
        attn = block_of(encoder, 0).attn
        attn.v.weight.zero_()
        attn.v.bias.zero_()
    found = move(walk_through(encoder, 0, 0, 1, 2), head_maps(encoder, 0, 0))
    assert found.value_norm == found.moved_norm == found.written_norm == 0
    assert np.isnan(found.head_shares).all()


def test_the_walk_decides_the_key() -> None:
    walk = walk_through(small_encoder(), 0, 0, 1, 2)
    other: Walk = replace(walk, key=3)
    assert multiply(walk).running[-1] != multiply(other).running[-1]
