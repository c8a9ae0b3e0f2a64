"""What is drawn at random: initial weights, a generator for each, by the model's seed and its name; and dropout."""

import contextlib
import hashlib
import math
from collections.abc import Iterator, Mapping
from typing import Literal, get_args

import torch
from torch import Tensor, nn

from playground.config import Initialisation
from playground.model.trace import UNTRACED, Trace


class Linear(nn.Linear):
    """A linear map whose weights `initialise` draws; a fused one has the rows (head, [q k v], `d_head`)."""

    def __init__(self, in_features: int, out_features: int, bias: bool = True, *, d_head: int = 0) -> None:
        super().__init__(in_features, out_features, bias)
        self.d_head, self.n_parts = d_head, 3 if d_head else 1

    def reset_parameters(self) -> None:
        """Draw nothing."""


class Embedding(nn.Embedding):
    """A table whose rows `initialise` draws."""

    def reset_parameters(self) -> None:
        """Draw nothing."""


@contextlib.contextmanager
def initial_weights(
    model: nn.Module, seed: int | None, scheme: Initialisation, *, drawn: str | None = None
) -> Iterator[None]:
    """Context in which a model's constructor makes its parts; then they are drawn, but for `drawn`."""
    with torch.device("meta") if seed is None else contextlib.nullcontext():
        yield
    if seed is not None:
        for name, part in model.named_children():
            if name != drawn:
                initialise(part, seed, scheme, f"{name}.")
    model.eval()


@torch.no_grad()
def initialise(model: nn.Module, seed: int, scheme: Initialisation = "xavier", prefix: str = "") -> None:
    """Draw every parameter of a model on the CPU; their names start with `prefix`.

    `xavier`: linear maps Xavier-uniform (Glorot & Bengio 2010, equation 16), each part of a fused one as if alone;
    biases 0;
    tables uniform with standard deviation 1/√width. `torch`: as torch.nn: uniform within 1/√in_features; tables
    standard normal. Gains are 1.
    """
    for path, module in model.named_modules():
        for kind, parameter in module.named_parameters(recurse=False):
            name = prefix + ".".join(filter(None, (path, kind)))
            if isinstance(module, Linear) and module.d_head:
                by_head = parameter.view(-1, 3, module.d_head, *parameter.shape[1:])
                for i, letter in enumerate("qkv"):
                    _draw(by_head[:, i], module, kind, scheme, generator(seed, name.replace("qkv", letter)))
            else:
                _draw(parameter, module, kind, scheme, generator(seed, name))


def _draw(parameter: Tensor, module: nn.Module, kind: str, scheme: Initialisation, drawn: torch.Generator) -> None:
    if isinstance(module, Embedding) and scheme == "torch":
        # In fp64: rounded to fp32, the numbers are the same on every machine.
        parameter.copy_(torch.empty(parameter.shape, dtype=torch.float64).normal_(generator=drawn))
    elif isinstance(module, Embedding):
        _fill(parameter, math.sqrt(3 / module.embedding_dim), drawn)
    elif isinstance(module, Linear) and scheme == "torch":
        _fill(parameter, math.sqrt(1 / module.in_features), drawn)
    elif isinstance(module, Linear) and kind == "weight":
        fan_out = module.out_features // module.n_parts
        _fill(parameter, math.sqrt(6 / (module.in_features + fan_out)), drawn)
    else:
        parameter.fill_(1.0 if kind == "gain" else 0.0)


def _fill(parameter: Tensor, bound: float, drawn: torch.Generator) -> None:
    parameter.uniform_(-bound, bound, generator=drawn)


def generator(seed: int, name: str) -> torch.Generator:
    """Return a generator on the CPU that depends on a seed and a name alone."""
    digest = hashlib.blake2b(f"{seed}/{name}".encode(), digest_size=8).digest()
    return torch.Generator("cpu").manual_seed(int.from_bytes(digest, "little"))


Point = Literal["positions", "attention", "feed-forward", "residual"]
"""Embedded tokens; attention weights; the hidden layer; what sublayers add to the stream."""

DROPOUT_POINTS: tuple[Point, ...] = get_args(Point)


class Dropout(nn.Module):
    """While training, zero numbers with probability p, divide the others by 1 − p (Srivastava et al. 2014)."""

    def __init__(self, p: float, point: Point) -> None:
        super().__init__()
        self.p, self.point = p, point
        self.generator: torch.Generator | None = None

    @property
    def drops(self) -> bool:
        """Whether anything is dropped now."""
        return self.training and self.p > 0

    def forward(self, x: Tensor, trace: Trace = UNTRACED, name: str = "dropout") -> Tensor:
        """Drop numbers of x; in train mode a trace notes `name`.in and `name`.out."""
        if not self.training:
            return x
        x = trace.record(f"{name}.in", x)
        if self.p > 0:
            x = x * torch.empty_like(x).bernoulli_(1 - self.p, generator=self.generator).div_(1 - self.p)
        return trace.record(f"{name}.out", x)


def set_dropout(
    model: nn.Module,
    probabilities: Mapping[Point, float] | None = None,
    generators: Mapping[Point, torch.Generator] | None = None,
) -> None:
    """Set a model's dropout by place; without a generator it draws from torch's, which all threads share."""
    for module in model.modules():
        if isinstance(module, Dropout):
            module.p = (probabilities or {}).get(module.point, module.p)
            module.generator = (generators or {}).get(module.point)
