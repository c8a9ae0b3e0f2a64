"""Dropout that draws from a generator of its own, and can be set by place."""

from collections.abc import Mapping
from typing import Literal, get_args

import torch
from torch import Tensor, nn

from playground.model.trace import UNTRACED, Trace

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
