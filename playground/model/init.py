"""Initial weights: every tensor from its own random numbers, so that a seed means the same weights everywhere."""

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from playground.config import Initialisation
from playground.model.random_numbers import fill_normal, fill_uniform


class Linear(nn.Linear):
    """A linear map whose weights `initialise` draws, instead of torch's constructor drawing them a first time."""

    def __init__(self, in_features: int, out_features: int, parts: Sequence[str] = (), n_heads: int = 1) -> None:
        """Map (…, in_features) to (…, out_features).

        A fused projection has the names of its `parts`, maps of equal size whose rows stand head by head: (head, part).
        """
        super().__init__(in_features, out_features)
        self.parts, self.n_heads = tuple(parts), n_heads

    def reset_parameters(self) -> None:
        """Draw nothing."""

    def part_rows(self, parameter: Tensor) -> dict[str, Tensor]:
        """The rows of each part in the weight or the bias of a fused projection, (H, d_head, …): views of it."""
        by_head = parameter.view(self.n_heads, len(self.parts), -1, *parameter.shape[1:])  # (H, parts, d_head, …)
        return {part: by_head[:, i] for i, part in enumerate(self.parts)}


class Embedding(nn.Embedding):
    """A table whose rows `initialise` draws, instead of torch's constructor drawing them a first time."""

    def reset_parameters(self) -> None:
        """Draw nothing."""


Distribution = Literal["uniform", "normal", "constant"]


class InitialTensor(NamedTuple):
    """A tensor that `initialise` fills: a parameter, or one part of a fused projection's."""

    name: str
    """In the model. A part of a fused projection is called as it is where it stands alone."""
    shape: tuple[int, ...]
    """(rows, columns), or (length,) of a bias or a norm's gain."""
    distribution: Distribution
    size: float
    """The bound of uniform numbers, the standard deviation of normal ones, or the constant."""


@contextlib.contextmanager
def initial_weights(
    model: nn.Module, seed: int | None, scheme: Initialisation, *, drawn: str | None = None
) -> Iterator[None]:
    """Context in which a model's constructor makes its parts: afterwards it has its weights, and is in eval mode.

    A part that is a model of its own has its weights already: `drawn` is its name. Without a seed, nothing is drawn or
    allocated: the parts are on torch's meta device.
    """
    with torch.device("meta") if seed is None else contextlib.nullcontext():
        yield
    if seed is not None:
        for name, part in model.named_children():
            if name != drawn:
                initialise(part, seed, scheme, f"{name}.")
    model.eval()


def initialise(model: nn.Module, seed: int, scheme: Initialisation = "xavier", prefix: str = "") -> None:
    """Draw every parameter of a model anew, each from the seed and its own name; `distribution_of` says how.

    A tensor's numbers depend on the seed, its name and their places in it, and on nothing else. So a deeper model has a
    shallower one's layers, and a larger tensor a smaller one's numbers in its upper left corner, times the bounds'
    ratio. Q, K and V are the same for any number of heads, which split them differently, and fused as apart.

    Args:
        model: what to draw; its parameters are on the CPU.
        seed: equal seeds give equal weights, bit by bit, on every machine.
        scheme: as of `distribution_of`.
        prefix: what the parameters' names start with, where the model is a part of another.
    """
    for tensor, place in initial_tensors(model, scheme, prefix):
        if place.is_contiguous():
            _fill(place.view(tensor.shape), tensor, seed)
        else:  # rows of one part of a fused projection, between those of the others
            place.copy_(draw(tensor, seed).view(place.shape))


def distribution_of(module: nn.Module, kind: str, scheme: Initialisation) -> tuple[Distribution, float]:
    """How a module's `weight`, `bias` or `gain` is drawn: the distribution and its size, as in `InitialTensor`.

    `xavier`: linear maps Xavier-uniform (Glorot & Bengio 2010, equation 16), each part of a fused projection as if it
    stood alone; biases 0. Tables: uniform with standard deviation 1/√width, so that scaling by √d_model gives unit
    variance.

    `torch`: what the constructors of torch.nn draw. Weights and biases of linear maps: uniform within 1/√in_features
    (`reset_parameters` of torch.nn.Linear). Tables: standard normal, so that scaling by √d_model gives vectors √d_model
    times as long as positions of the same size would be.

    Norms get gain 1 and bias 0 in both.
    """
    if isinstance(module, Embedding):
        return ("uniform", math.sqrt(3 / module.embedding_dim)) if scheme == "xavier" else ("normal", 1.0)
    if not isinstance(module, Linear):
        return "constant", 1.0 if kind == "gain" else 0.0
    if scheme == "torch":
        return "uniform", math.sqrt(1 / module.in_features)
    if kind == "bias":
        return "constant", 0.0
    fan_out = module.out_features // max(1, len(module.parts))
    return "uniform", math.sqrt(6 / (module.in_features + fan_out))


def initial_tensors(
    model: nn.Module, scheme: Initialisation, prefix: str = ""
) -> Iterator[tuple[InitialTensor, Tensor]]:
    """What `initialise` fills, and the view of the model's memory that holds it; nothing is drawn here.

    A parameter of a fused projection is its parts, each with the name and the shape that it has where it stands alone.
    """
    for path, module in model.named_modules():
        for kind, parameter in module.named_parameters(recurse=False):
            distribution, size = distribution_of(module, kind, scheme)
            places, width = {_join(path, kind): parameter.detach()}, parameter.shape[1:]
            if isinstance(module, Linear) and module.parts:
                around, parts = path.rpartition(".")[0], module.part_rows(parameter.detach())
                places = {_join(around, part, kind): rows for part, rows in parts.items()}
            for name, place in places.items():
                shape = (place.numel() // math.prod(width), *width)
                yield InitialTensor(prefix + name, shape, distribution, size), place


def _join(*names: str) -> str:
    return ".".join(filter(None, names))


def draw(tensor: InitialTensor, seed: int) -> Tensor:
    """A tensor's first numbers, as `initialise` gives them, in memory of its own: float32, of the tensor's shape."""
    drawn = torch.empty(tensor.shape)
    _fill(drawn, tensor, seed)
    return drawn


def share_weights(model: nn.Module, scheme: Initialisation, find: Callable[[InitialTensor], Tensor]) -> None:
    """Give a model without memory, on the meta device, the tensors that `find` has of it.

    Two models then share the memory of every tensor that both have: nobody may write to it. The parts of a fused
    projection are copied together, into memory of its own on the CPU.
    """
    for module in model.modules():
        if isinstance(module, Linear) and module.parts:
            module.to_empty(device="cpu")
    weights: dict[str, Tensor] = dict(model.named_parameters())
    for tensor, place in initial_tensors(model, scheme):
        if place.is_meta:
            weights[tensor.name] = find(tensor)
        else:
            place.copy_(find(tensor).view(place.shape))
    model.load_state_dict(weights, assign=True)


def _fill(place: Tensor, tensor: InitialTensor, seed: int) -> None:
    """Fill contiguous memory of a tensor's shape with its first numbers."""
    if tensor.distribution == "constant":
        place.fill_(tensor.size)
        return
    fill = fill_uniform if tensor.distribution == "uniform" else fill_normal
    fill(np.atleast_2d(place.numpy()), seed, tensor.name, tensor.size)
