"""The position-wise feed-forward network (Vaswani et al. 2017, section 3.3)."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from playground.config import ModelConfig
from playground.model.dropout import Dropout
from playground.model.init import Linear
from playground.model.trace import UNTRACED, Trace

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"relu": F.relu, "gelu": F.gelu, "silu": F.silu}
"""max(0, x); x Φ(x), exact (Hendrycks & Gimpel 2016); x σ(x) (Elfwing et al. 2017)."""

_UNWATCHED = {**ACTIVATIONS, "relu": torch.relu_}
"""By name, for a pass that nobody traces: ReLU may overwrite its input, as its gradient needs its output alone."""


class FeedForward(nn.Module):
    """W₂ activation(W₁ x + b₁) + b₂ at every position."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.up = Linear(config.d_model, config.d_ff)
        self.down = Linear(config.d_ff, config.d_model)
        self.activation, self.unwatched = ACTIVATIONS[config.activation], _UNWATCHED[config.activation]
        self.hidden_dropout = Dropout(config.dropout, "feed-forward")
        self.dropout = Dropout(config.dropout, "residual")

    def forward(self, x: Tensor, trace: Trace = UNTRACED) -> Tensor:
        """x (B, T, d_model) → (B, T, d_model)."""
        activation = self.activation if trace.recording else self.unwatched
        up = trace.record("up", self.up(trace.record("in", x)))  # (B, T, d_ff)
        hidden = self.hidden_dropout(trace.record("hidden", activation(up)), trace, "hidden_dropout")
        return trace.record("out", self.dropout(self.down(hidden), trace))
