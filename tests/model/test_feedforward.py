"""The feed-forward network against its formula in NumPy float64."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from playground import ModelConfig, Trace
from playground.config import Activation
from playground.model.blocks import FeedForward
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
