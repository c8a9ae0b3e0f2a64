"""Random matrices that are the same on every machine, and whose corners do not depend on their size.

The numbers come from Philox4x64-10, a generator that computes the n-th number from a key and n (Salmon et al. 2011,
"Parallel random numbers: as easy as 1, 2, 3"). The key is a matrix's name under a seed, n begins anew in every tile: a
larger matrix has more tiles, and in the tiles of a smaller one the same numbers. Bits become numbers by operations that
IEEE 754 rounds in one way alone; a library's logarithm and sine may differ in the last bit from another's.
"""

import contextlib
import hashlib
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from playground.config import Initialisation

TILE = (512, 64)
"""Rows and columns of a tile: as many numbers as a cache holds, no wider than most matrices.

Another size would give every seed other numbers."""

_ARTANH = [1 / n for n in range(1, 17, 2)]
"""artanh(x) = x + x³/3 + x⁵/5 + …"""

_SIN, _COS = ([(-1) ** n / math.factorial(2 * n + k) for n in range(8)] for k in (1, 0))
"""sin(x) = x − x³/3! + x⁵/5! − …, cos(x) = 1 − x²/2! + x⁴/4! − …"""


def fill_uniform(matrix: np.ndarray, seed: int, name: str, bound: float) -> None:
    """Fill a float matrix (rows, columns) with numbers in [−bound, bound], each as likely as any other."""
    _fill_tiles(matrix, seed, name, lambda integers: integers.astype(np.float32), np.float32(bound * 2.0**-31))


def fill_normal(matrix: np.ndarray, seed: int, name: str, deviation: float) -> None:
    """Fill a float matrix (rows, columns) with normal numbers of mean 0 and this standard deviation."""
    _fill_tiles(matrix, seed, name, standard_normal, np.float64(deviation))


def _fill_tiles(
    matrix: np.ndarray, seed: int, name: str, transform: Callable[[np.ndarray], np.ndarray], factor: np.floating
) -> None:
    """Fill a matrix with `factor` times what `transform` makes of each tile's random integers, int32."""
    key = hashlib.blake2b(f"{seed:d}/{name}".encode(), digest_size=16).digest()
    bits = np.random.Philox(key=int.from_bytes(key, "little"))
    state = bits.state
    n_rows, n_columns = TILE
    for i in range(0, len(matrix), n_rows):
        for j in range(0, matrix.shape[1], n_columns):
            tile = matrix[i : i + n_rows, j : j + n_columns]
            state["state"]["counter"][1:3] = i, j
            bits.state = state
            words = bits.random_raw(len(tile) * n_columns // 2)  # of 64 bits: two integers each
            integers = words.astype("<u8", copy=False).view("<i4").reshape(len(tile), n_columns)
            np.multiply(transform(integers)[:, : tile.shape[1]], factor, out=tile, casting="same_kind")


def standard_normal(integers: np.ndarray) -> np.ndarray:
    """Standard normal numbers (R, C) float64 from random integers (R, C) int32, two from two (Box & Muller 1958).

    With u in (0, 1) and an angle α, these are √(−2 ln u) cos α and √(−2 ln u) sin α.
    """
    u = (integers[:, 0::2] + (2.0**31 + 0.5)) * 2.0**-32
    angle = integers[:, 1::2] * (math.pi * 2.0**-31)  # −π ≤ α < π
    radius = np.sqrt(-2 * _log(u))
    turned = math.pi / 2 - np.abs(angle)  # cos α = sin(π/2 − |α|), and both series need few terms within ±π/2
    square = turned * turned
    numbers = np.empty(integers.shape)
    np.multiply(radius, turned * _series(_SIN, square), out=numbers[:, 0::2])
    np.multiply(radius, np.copysign(_series(_COS, square), angle), out=numbers[:, 1::2])
    return numbers


def _log(x: np.ndarray) -> np.ndarray:
    """ln x: where x = m 2ᵉ with ½ ≤ m < 1, and c = √½, it is (e − ½) ln 2 + 2 artanh((m − c) / (m + c))."""
    m, e = np.frexp(x)
    c = math.sqrt(0.5)
    ratio = (m - c) / (m + c)
    log: np.ndarray = (e - 0.5) * 0.6931471805599453 + 2 * ratio * _series(_ARTANH, ratio * ratio)
    return log


def _series(coefficients: Sequence[float], x: np.ndarray) -> np.ndarray:
    """The sum of coefficients[n] xⁿ, by Horner's rule."""
    total = x * coefficients[-1]
    for coefficient in coefficients[-2:0:-1]:
        total += coefficient
        total *= x
    total += coefficients[0]
    return total


class Linear(nn.Linear):
    """A linear map whose weights `initialise` draws, instead of torch's constructor drawing them a first time."""

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, *, parts: Sequence[str] = (), n_heads: int = 1
    ) -> None:
        """Map (…, in_features) to (…, out_features).

        A fused projection has the names of its `parts`, maps of equal size whose rows stand head by head: (head, part).
        """
        super().__init__(in_features, out_features, bias)
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
    model.load_state_dict(weights, assign=True, strict=False)  # of layers that share their weights, the first's are all


def _fill(place: Tensor, tensor: InitialTensor, seed: int) -> None:
    """Fill contiguous memory of a tensor's shape with its first numbers."""
    if tensor.distribution == "constant":
        place.fill_(tensor.size)
        return
    fill = fill_uniform if tensor.distribution == "uniform" else fill_normal
    fill(np.atleast_2d(place.numpy()), seed, tensor.name, tensor.size)
