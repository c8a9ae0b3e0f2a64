"""The four norms against torch's functions and tutorial A's formula in float64."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from playground import ModelConfig, Trace
from playground.config import Norm
from playground.model.blocks import LayerNorm, NoNorm, RMSNorm, ScalarNorm, build_norm
from playground.model.init import initialise
from tests.model.reference import float64, scalar_norm, scramble, vectors

D_MODEL = 7
KINDS: dict[str, type[LayerNorm | ScalarNorm | RMSNorm]] = {"layer": LayerNorm, "scalar": ScalarNorm, "rms": RMSNorm}


def new(kind: str, eps: float = 1e-5) -> LayerNorm | ScalarNorm | RMSNorm:
    norm = KINDS[kind](D_MODEL, eps)
    initialise(norm, seed=0)
    return scramble(norm)


@pytest.fixture(params=["spread", "offset", "constant"])
def x(request: pytest.FixtureRequest) -> Tensor:
    """Inputs with a deviation of about 3, far from zero, and without any deviation."""
    return {
        "spread": 3 * vectors(2, 5, D_MODEL),
        "offset": vectors(2, 5, D_MODEL) + 20,
        "constant": torch.full((2, 5, D_MODEL), 4.0),
    }[request.param]


@pytest.fixture(params=[1e-5, 0.3])
def eps(request: pytest.FixtureRequest) -> float:
    """A usual one, and one large enough that its place in the formula shows."""
    value: float = request.param
    return value


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_norm_is_torchs_or_tutorial_as(kind: str, x: Tensor, eps: float, traced: bool) -> None:
    norm = new(kind, eps)
    if isinstance(norm, LayerNorm):
        expected = float64(F.layer_norm(x, (D_MODEL,), norm.gain, norm.bias, eps))
    elif isinstance(norm, RMSNorm):
        expected = float64(F.rms_norm(x, (D_MODEL,), norm.gain, eps))
    else:
        expected = scalar_norm(float64(x), norm.gain.item(), norm.bias.item(), eps)
    out = norm(x, Trace()) if traced else norm(x)
    np.testing.assert_allclose(float64(out), expected, atol=1e-5, rtol=0)


def test_no_norm_hands_its_input_on(x: Tensor) -> None:
    assert NoNorm()(x) is x


@pytest.mark.parametrize("kind", KINDS)
def test_gain_and_bias_come_after_normalized(kind: str) -> None:
    norm, trace = new(kind), Trace()
    out = norm(vectors(2, 5, D_MODEL), trace)
    bias = 0.0 if isinstance(norm, RMSNorm) else norm.bias
    torch.testing.assert_close(trace["out"], trace["normalized"] * norm.gain + bias)
    assert trace["out"] is out
    assert list(trace) == ["in", "normalized", "out"]


@pytest.mark.parametrize(
    ("kind", "shapes"),
    [
        ("layer", {"gain": (D_MODEL,), "bias": (D_MODEL,)}),
        ("scalar", {"gain": (1,), "bias": (1,)}),
        ("rms", {"gain": (D_MODEL,)}),
        ("none", {}),
    ],
)
def test_a_configs_norm_has_the_documented_parameters(kind: Norm, shapes: dict[str, tuple[int, ...]]) -> None:
    norm = build_norm(ModelConfig(vocab_size=1, d_model=D_MODEL, n_heads=1, norm=kind))
    assert {name: tuple(parameter.shape) for name, parameter in norm.named_parameters()} == shapes
