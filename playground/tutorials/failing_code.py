"""The tutorials' mistakes that stop with an error: each made again in a few lines, with Python's words."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from playground.model.positions import sinusoids
from playground.tutorials.demonstrations import normal


def raised(attempt: Callable[[], object]) -> str:
    """What an attempt raises, in Python's words."""
    try:
        attempt()
    except (AttributeError, IndexError, RuntimeError, TypeError) as error:
        return f"{type(error).__name__}, `{str(error).splitlines()[0]}`"
    raise AssertionError("the attempt was expected to fail")


def odd_width() -> str:
    """Fill every second column of a table with an odd number of columns."""
    table, angles = torch.zeros(4, 5), torch.zeros(4, 3)
    sines, cosines = table[:, 0::2], table[:, 1::2]
    message = raised(lambda: cosines.copy_(angles.cos()))
    return f"d_model 5 has {sines.shape[1]} columns for sines and {cosines.shape[1]} for cosines: {message}"


def longer_than_the_table() -> str:
    """Add six tokens to a table of five positions."""
    return f"Six tokens, a table of five: {raised(lambda: normal(1, 6, 16) + sinusoids(5, 16)[:6])}"


def called_a_number() -> str:
    """Call the dimension where the table was meant."""
    d_model: Any = 512
    return f"512(ids): {raised(lambda: d_model(torch.tensor([1, 2])))}"


def swapped_arguments() -> str:
    """Build a table of 10,000 words and 512 features with its two sizes swapped."""
    table = nn.Embedding(512, 10_000, device="meta")
    message = raised(lambda: F.embedding(torch.tensor([700]), torch.zeros(512, 1)))
    return f"The table has the shape {tuple(table.weight.shape)}; the word of id 700: {message}"


def another_name() -> str:
    """Read a table by a name that it does not have."""
    module = nn.Module()
    module.register_buffer("positional_encoding", torch.zeros(4, 8))
    return raised(lambda: module.pe)


def called_a_flag() -> str:
    """Call a tensor's flag as if it were a method."""
    table: Any = torch.zeros(4, 8)
    return raised(lambda: table.requires_grad(False))


def logarithm_of_a_float() -> str:
    """Ask torch, not math, for the logarithm of 10000."""
    number: Any = 10000.0
    return f"torch.log(10000.0): {raised(lambda: torch.log(number))}"


def without_superclass() -> str:
    """Build and call a module whose constructor leaves out its superclass's, and takes the width for eps."""

    class Norm(nn.Module):
        def __init__(self, eps: float) -> None:
            self.eps = eps

        def forward(self, x: Tensor) -> nn.LayerNorm:
            return nn.LayerNorm(x.shape[-1], self.eps)

    norm = Norm(16)
    return f"Norm({norm.eps}) is built. Its call: {raised(lambda: norm(normal(1, 6, 16)))}"


def built_instead_of_applied() -> str:
    """Hand a ReLU built from the input to the dropout that follows."""
    x = normal(1, 6, 16)
    activation: Any = nn.ReLU
    return raised(lambda: F.dropout(activation(x)))
