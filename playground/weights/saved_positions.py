"""A position table in a file: the sines and cosines that we compute too, or numbers that were trained."""

import torch
from torch import Tensor

from playground.model.positions import sinusoids


def kind_of_positions(table: Tensor) -> str:
    """What `ModelConfig.positions` says of a table (L, d_model): `sinusoidal`, `sinusoidal-doubled`, or `learned`."""
    for kind, doubled in {"sinusoidal": False, "sinusoidal-doubled": True}.items():
        if _agree(table, sinusoids(*table.shape, doubled=doubled)):
            return kind
    return "learned"


def _agree(table: Tensor, computed: Tensor) -> bool:
    """Whether a table equals one computed in float64, but for rounding: that of its type, and of float32's angles."""
    rounded_angles = 1e-5 + 5e-7 * torch.arange(len(table))[:, None]  # (L, 1): a later position turns further
    tolerance = rounded_angles.clamp(min=torch.finfo(table.dtype).eps if table.is_floating_point() else 0)
    return bool(((table.float() - computed).abs() <= tolerance).all())
