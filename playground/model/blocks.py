"""The encoder block: attention and feed-forward (section 3.3), each with its norms and residual."""

from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from playground.config import ModelConfig
from playground.model.attention import UNMASKED, Attention, AttentionMask
from playground.model.init import Dropout, Linear
from playground.model.norms import NoNorm, build_norm
from playground.model.trace import UNTRACED, Trace

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu-tanh": partial(F.gelu, approximate="tanh"),
    "silu": F.silu,
}
"""max(0, x); x Φ(x), and by a tanh (Hendrycks & Gimpel 2016); x σ(x) (Elfwing et al. 2017)."""

_UNWATCHED = {**ACTIVATIONS, "relu": torch.relu_}
"""Untraced, ReLU may overwrite its input."""


class FeedForward(nn.Module):
    """W₂ activation(W₁ x + b₁) + b₂; gated, W₂ (activation(W₁ x + b₁) ⊙ (W₃ x + b₃)) + b₂."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.up = Linear(config.d_model, config.d_ff, config.bias)
        self.down = Linear(config.d_ff, config.d_model, config.bias)
        self.gate = Linear(config.d_model, config.d_ff, config.bias) if config.gated else None
        self.activation, self.unwatched = ACTIVATIONS[config.activation], _UNWATCHED[config.activation]
        self.hidden_dropout = Dropout(config.dropout, "feed-forward")
        self.dropout = Dropout(config.dropout, "residual")

    def forward(self, x: Tensor, trace: Trace = UNTRACED) -> Tensor:
        """x (B, T, d_model) → (B, T, d_model)."""
        activation = self.activation if trace.recording else self.unwatched
        x = trace.record("in", x)
        hidden = activation(trace.record("up", self.up(x)))  # (B, T, d_ff)
        if self.gate is not None:
            hidden = hidden * trace.record("gate", self.gate(x))
        hidden = self.hidden_dropout(trace.record("hidden", hidden), trace, "hidden_dropout")
        return trace.record("out", self.dropout(self.down(hidden), trace))


Transform = Callable[[Tensor], Tensor]
"""(B, T, d_model) → (B, T, d_model)"""


class ResidualBlock(nn.Module):
    """The residual connections and norms around sublayers."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.residual, self.post_norm = config.residual, config.norm_placement == "post"

    def connect(self, x: Tensor, f: Transform, norm: Transform, note: Transform) -> Tensor:
        """norm(x + f(x)), post-norm (Vaswani et al. 2017), or x + f(norm(x)), pre-norm (Xiong et al. 2020)."""
        if self.post_norm:
            return norm(note(self.add(x, f(x))))
        return note(self.add(x, f(norm(x))))

    def add(self, x: Tensor, sublayer: Tensor) -> Tensor:
        """x + sublayer, or the sublayer alone."""
        return x + sublayer if self.residual else sublayer


def build_post_norm(config: ModelConfig) -> nn.Module | None:
    """Return the norm behind a sublayer, or None."""
    return build_norm(config) if config.norm_placement == "both" else None


def sandwich(f: Transform, norm: nn.Module | None, trace: Trace) -> Transform:
    """norm(f(x)) (Ding et al. 2021), or f without such a norm."""
    return f if norm is None else lambda x: norm(f(x), trace)


class EncoderBlock(ResidualBlock):
    """One layer of an encoder."""

    def __init__(self, config: ModelConfig, layer: int = 0) -> None:
        super().__init__(config)
        self.attn = Attention(config, layer)
        self.ffn = FeedForward(config)
        self.norm1 = build_norm(config) if config.has_norm1(layer) else NoNorm()
        self.norm2 = build_norm(config)
        self.post_norm1, self.post_norm2 = build_post_norm(config), build_post_norm(config)

    def forward(self, x: Tensor, mask: AttentionMask = UNMASKED, trace: Trace = UNTRACED) -> Tensor:
        """x (B, T, d_model) → (B, T, d_model); mask as in `attend`."""
        attn: Transform = partial(self.attn, mask=mask, trace=trace.scope("attn"))
        attn = sandwich(attn, self.post_norm1, trace.scope("post_norm1"))
        norm1 = partial(self.norm1, trace=trace.scope("norm1"))
        x = self.connect(x, attn, norm1, partial(trace.record, "resid_mid"))

        ffn: Transform = partial(self.ffn, trace=trace.scope("ffn"))
        ffn = sandwich(ffn, self.post_norm2, trace.scope("post_norm2"))
        norm2 = partial(self.norm2, trace=trace.scope("norm2"))
        x = self.connect(x, ffn, norm2, partial(trace.record, "resid_post"))
        return trace.record("out", x)
