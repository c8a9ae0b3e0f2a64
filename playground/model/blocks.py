"""The encoder block: attention, then feed-forward (section 3.3), each with its norm and residual; the four norms."""

from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from playground.config import ModelConfig
from playground.model.attention import UNMASKED, Attention, AttentionMask
from playground.model.dropout import Dropout
from playground.model.init import Linear
from playground.model.trace import UNTRACED, Trace


class LayerNorm(nn.Module):
    """Zero mean and unit variance over each token's features, then a gain and a bias per feature (Ba et al. 2016)."""

    def __init__(self, d_model: int, eps: float) -> None:
        super().__init__()
        self.eps = eps
        self.gain = nn.Parameter(torch.empty(d_model))
        self.bias = nn.Parameter(torch.empty(d_model))

    def forward(self, x: Tensor, trace: Trace = UNTRACED) -> Tensor:
        """gain · (x − mean) / √(variance + eps) + bias; torch computes it, in one step if unwatched."""
        if not trace.recording:
            return F.layer_norm(x, self.gain.shape, self.gain, self.bias, self.eps)
        normalized = trace.record("normalized", F.layer_norm(trace.record("in", x), self.gain.shape, eps=self.eps))
        return trace.record("out", torch.addcmul(self.bias, self.gain, normalized))


class ScalarNorm(nn.Module):
    """Tutorial A's norm: one gain and one bias for all features, the unbiased deviation, eps added to it."""

    def __init__(self, d_model: int, eps: float) -> None:
        super().__init__()
        self.eps = eps
        self.gain = nn.Parameter(torch.empty(1))
        self.bias = nn.Parameter(torch.empty(1))

    def forward(self, x: Tensor, trace: Trace = UNTRACED) -> Tensor:
        """Normalise by mean and standard deviation, divided by d_model − 1."""
        deviation, mean = torch.std_mean(trace.record("in", x), dim=-1, correction=1, keepdim=True)
        normalized = trace.record("normalized", (x - mean) / (deviation + self.eps))
        return trace.record("out", torch.addcmul(self.bias, self.gain, normalized))


class RMSNorm(nn.Module):
    """Divide by the root mean square: no mean, no bias (Zhang & Sennrich 2019, equation 4)."""

    def __init__(self, d_model: int, eps: float) -> None:
        super().__init__()
        self.eps = eps
        self.gain = nn.Parameter(torch.empty(d_model))

    def forward(self, x: Tensor, trace: Trace = UNTRACED) -> Tensor:
        """Normalise by the root of the mean square."""
        rms = torch.sqrt(trace.record("in", x).square().mean(dim=-1, keepdim=True) + self.eps)
        normalized = trace.record("normalized", x / rms)
        return trace.record("out", self.gain * normalized)


class NoNorm(nn.Module):
    """Hand the input on unchanged."""

    def forward(self, x: Tensor, trace: Trace = UNTRACED) -> Tensor:
        """Record the same tensor at all three points, so that a trace has the same names for every norm."""
        return trace.record("out", trace.record("normalized", trace.record("in", x)))


def build_norm(config: ModelConfig) -> nn.Module:
    """Return a new norm of the config's kind."""
    if config.norm == "none":
        return NoNorm()
    kinds = {"layer": LayerNorm, "scalar": ScalarNorm, "rms": RMSNorm}
    return kinds[config.norm](config.d_model, config.norm_eps)


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


Transform = Callable[[Tensor], Tensor]
"""(B, T, d_model) → (B, T, d_model)"""


class ResidualBlock(nn.Module):
    """What every block has around its sublayers: their residual connections and norms, as the config places them."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.residual, self.post_norm = config.residual, config.norm_placement == "post"

    def connect(self, x: Tensor, f: Transform, norm: Transform, note: Transform) -> Tensor:
        """norm(x + f(x)), which is post-norm, or x + f(norm(x)), pre-norm: (B, T, d_model) → (B, T, d_model).

        Post-norm is Vaswani et al. 2017, section 3.1, pre-norm Xiong et al. 2020. Without residual connections (He et
        al. 2015), nothing is added to f. `note` records the sum.
        """
        if self.post_norm:
            return norm(note(self.add(x, f(x))))
        return note(self.add(x, f(norm(x))))

    def add(self, x: Tensor, sublayer: Tensor) -> Tensor:
        """x + a sublayer's output, or that alone where the config has no residual connections."""
        return x + sublayer if self.residual else sublayer


class EncoderBlock(ResidualBlock):
    """One layer of an encoder."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.attn = Attention(config)
        self.ffn = FeedForward(config)
        self.norm1 = build_norm(config)
        self.norm2 = build_norm(config)

    def forward(self, x: Tensor, mask: AttentionMask = UNMASKED, trace: Trace = UNTRACED) -> Tensor:
        """x (B, T, d_model) → (B, T, d_model); mask as in `attend`."""
        attn = partial(self.attn, mask=mask, trace=trace.scope("attn"))
        norm1 = partial(self.norm1, trace=trace.scope("norm1"))
        x = self.connect(x, attn, norm1, partial(trace.record, "resid_mid"))

        ffn = partial(self.ffn, trace=trace.scope("ffn"))
        norm2 = partial(self.norm2, trace=trace.scope("norm2"))
        x = self.connect(x, ffn, norm2, partial(trace.record, "resid_post"))
        return trace.record("out", x)
