"""The feed-forward network against its formula in NumPy float64."""

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch

from playground import ModelConfig, Trace
from playground.config import Activation
from playground.model.feedforward import FeedForward
from playground.model.init import initialise
from tests.model.reference import Array, float64, scramble, vectors

FORMULAS: dict[str, Callable[[Array], Array]] = {
    "relu": lambda x: np.maximum(x, 0),
    "gelu": lambda x: x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2,
    "silu": lambda x: x / (1 + np.exp(-x)),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_feed_forward_is_the_formulas(name: Activation) -> None:
    ffn = FeedForward(ModelConfig(vocab_size=0, d_model=6, n_heads=1, d_ff=11, activation=name))
    initialise(ffn, seed=0)
    scramble(ffn).eval()
    x, trace = vectors(2, 5, 6), Trace()
    up = float64(x) @ float64(ffn.up.weight).T + float64(ffn.up.bias)
    hidden = FORMULAS[name](up)
    expected = hidden @ float64(ffn.down.weight).T + float64(ffn.down.bias)
    np.testing.assert_allclose(float64(ffn(x, trace)), expected, atol=1e-5, rtol=0)
    np.testing.assert_allclose(float64(trace["up"]), up, atol=1e-5, rtol=0)
    np.testing.assert_allclose(float64(trace["hidden"]), hidden, atol=1e-5, rtol=0)
    np.testing.assert_allclose(float64(trace["out"]), expected, atol=1e-5, rtol=0)


def test_dropout_acts_on_the_hidden_layer_too() -> None:
    ffn, trace = FeedForward(ModelConfig(vocab_size=0, d_model=6, n_heads=1, d_ff=11, dropout=0.5)), Trace()
    initialise(ffn, seed=0)
    torch.manual_seed(0)
    ffn.train()(vectors(2, 5, 6), trace)
    kept = trace["out"] != 0
    undropped = 2 * ffn.down(trace["hidden"])[kept]  # what survives is scaled up by 1 / (1 − 0.5)
    assert not torch.allclose(trace["out"][kept], undropped, atol=1e-2)
