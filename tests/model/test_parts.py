"""What loops over tokens do not show: norms far from zero or without a deviation."""

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from playground import Trace
from playground.model.init import initialise
from playground.model.norms import LayerNorm, RMSNorm, ScalarNorm
from playground.model.positions import alibi_slopes
from tests.model.reference import float64, scramble, vectors

D_MODEL = 7
KINDS: dict[str, Any] = {"layer": LayerNorm, "scalar": lambda _, eps: ScalarNorm(eps), "rms": RMSNorm}
INPUTS = {"offset": vectors(2, 5, D_MODEL) + 20, "constant": torch.full((2, 5, D_MODEL), 4.0)}


@pytest.mark.parametrize("eps", [1e-5, 0.3], ids=["usual", "large enough that its place in the formula shows"])
@pytest.mark.parametrize("x", INPUTS.values(), ids=INPUTS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_norm_is_torchs_or_tutorial_as(kind: str, x: Tensor, eps: float) -> None:
    norm = KINDS[kind](D_MODEL, eps)
    initialise(norm, seed=0)
    scramble(norm)
    if kind == "layer":
        expected = F.layer_norm(x, (D_MODEL,), norm.gain, norm.bias, eps)
    elif kind == "rms":
        expected = F.rms_norm(x, (D_MODEL,), norm.gain, eps)
    else:
        expected = norm.gain * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + eps) + norm.bias
    for found in (norm(x), norm(x, Trace())):
        np.testing.assert_allclose(float64(found), float64(expected), atol=1e-5, rtol=0)


def test_alibis_slopes_are_powers_of_2_and_between_them_for_other_numbers_of_heads() -> None:
    assert alibi_slopes(6).tolist() == pytest.approx([2**-each for each in (2, 4, 6, 8, 1, 3)])
