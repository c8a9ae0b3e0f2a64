"""Fixed position tables: sines and cosines of ever longer wavelengths."""

import math

import torch
from torch import Tensor


def frequencies(d_model: int, *, doubled: bool = False) -> Tensor:
    """Radians per position of each sine-cosine pair: (⌈d_model / 2⌉,), float64.

    Pair i turns at 1 / 10000^(2i / d_model) (Vaswani et al. 2017, section 3.5). `doubled` counts the exponent twice, as
    tutorial B does: each frequency is then the square of the standard one.
    """
    exponents = torch.arange(0, d_model, 2, dtype=torch.float64, device="cpu") / d_model
    return 10_000.0 ** -(2 * exponents if doubled else exponents)


def wavelengths(d_model: int, *, doubled: bool = False) -> Tensor:
    """Positions after which each sine-cosine pair repeats: (⌈d_model / 2⌉,), float64."""
    return 2 * math.pi / frequencies(d_model, doubled=doubled)


def sinusoids(n_positions: int, d_model: int, *, doubled: bool = False) -> Tensor:
    """Sines in the even columns, cosines in the odd ones: (n_positions, d_model), float32.

    An odd d_model ends on a sine. Always on the CPU, so that a model whose weights are not there yet has its table.
    """
    positions = torch.arange(n_positions, dtype=torch.float64, device="cpu")
    angles = positions[:, None] * frequencies(d_model, doubled=doubled)  # (n_positions, ⌈d_model / 2⌉)
    pairs = torch.stack([angles.sin(), angles.cos()], dim=-1)  # (n_positions, ⌈d_model / 2⌉, 2)
    return pairs.flatten(1)[:, :d_model].float()
