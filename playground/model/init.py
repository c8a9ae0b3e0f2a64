"""Random weights: each tensor has a generator of its own, seeded by the model's seed and its name."""

import contextlib
import hashlib
import math
from collections.abc import Iterator

import torch
from torch import Tensor, nn

from playground.config import Initialisation


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
