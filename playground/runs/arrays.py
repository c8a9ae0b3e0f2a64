"""The arrays that runs hand out: read-only, float32, free of torch."""

from collections.abc import Iterable, Mapping

import numpy as np
import torch
from numpy.typing import NDArray

from playground.model.trace import ByName

Array = NDArray[np.float32]

Floats = NDArray[np.floating]
"""fp32 or fp64."""

FLOAT32_ROUNDING = 1e-6
"""Numbers of two runs may differ by this share of their size, or of 1."""


def freeze(*arrays: NDArray[np.generic]) -> None:
    """Make arrays read-only: visitors share them."""
    for array in arrays:
        array.flags.writeable = False


def to_array(tensor: torch.Tensor, *, copy: bool = False) -> Array:
    """Return a tensor's numbers, read-only; `copy` if it is a part of something larger."""
    array: Array = tensor.detach().cpu().numpy()
    array = array.copy() if copy else array
    array.flags.writeable = False
    return array


def first_sentence(trace: Mapping[str, torch.Tensor]) -> dict[str, Array]:
    """Return a trace without its sentence axis, read-only."""
    tensors = dict(trace.items())
    arrays = {id(tensor): to_array(tensor[0]) for tensor in tensors.values()}
    return ByName({name: arrays[id(tensor)] for name, tensor in tensors.items()})


def stack_layers(trace: Mapping[str, torch.Tensor], point: str, layers: Iterable[int]) -> Array:
    """Stack one point of several layers, of the first sentence: (L, …), read-only; `{}` is the layer."""
    array: Array = np.stack([trace[point.format(i)][0].cpu().numpy() for i in layers])
    freeze(array)
    return array
