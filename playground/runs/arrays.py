"""The arrays that runs hand out: read-only, float32, free of torch."""

from collections.abc import Iterable, Mapping

import numpy as np
import torch
from numpy.typing import NDArray

from playground.model.trace import ByName

Array = NDArray[np.float32]

FLOAT32_ROUNDING = 1e-6
"""Up to this share of their size, or of 1, numbers of two runs differ by the rounding of 32-bit floats alone."""


def freeze(*arrays: NDArray[np.generic]) -> None:
    """Make arrays read-only, as several visitors' pages share them."""
    for array in arrays:
        array.flags.writeable = False


def to_array(tensor: torch.Tensor, *, copy: bool = False) -> Array:
    """A tensor's numbers, read-only. `copy` where the tensor is a part of something that need not stay in memory."""
    array: Array = tensor.detach().cpu().numpy()
    array = array.copy() if copy else array
    freeze(array)
    return array


def first_sentence(trace: Mapping[str, torch.Tensor]) -> dict[str, Array]:
    """A trace without its sentence axis, read-only; names of the same tensor share one array."""
    arrays = {id(tensor): to_array(tensor[0]) for tensor in trace.values()}
    return ByName({name: arrays[id(tensor)] for name, tensor in trace.items()})


def stack_layers(trace: Mapping[str, torch.Tensor], point: str, layers: Iterable[int]) -> Array:
    """One point of several layers, of a trace's first sentence: (L, …), read-only; `{}` in the point is the layer."""
    array: Array = np.stack([trace[point.format(i)][0].cpu().numpy() for i in layers])
    freeze(array)
    return array
