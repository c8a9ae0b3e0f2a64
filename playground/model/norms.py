"""The four norms, of a token's features or of a head's."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from playground.config import ModelConfig
from playground.model.trace import UNTRACED, Trace


class LayerNorm(nn.Module):
    """Zero mean and unit variance over features, then a gain and a bias per feature (Ba et al. 2016)."""

    def __init__(self, width: int, eps: float, bias: bool = True) -> None:
        super().__init__()
        self.eps = eps
        self.gain = nn.Parameter(torch.empty(width))
        self.bias = nn.Parameter(torch.empty(width)) if bias else None

    def forward(self, x: Tensor, trace: Trace = UNTRACED) -> Tensor:
        """gain · (x − mean) / √(variance + eps) + bias."""
        if not trace.recording:
            return F.layer_norm(x, self.gain.shape, self.gain, self.bias, self.eps)
        normalized = trace.record("normalized", F.layer_norm(trace.record("in", x), self.gain.shape, eps=self.eps))
        return trace.record("out", scale(normalized, self.gain, self.bias))


class ScalarNorm(nn.Module):
    """Tutorial A's norm: one gain, one bias, the unbiased deviation, eps added to it."""

    def __init__(self, eps: float, bias: bool = True) -> None:
        super().__init__()
        self.eps = eps
        self.gain = nn.Parameter(torch.empty(1))
        self.bias = nn.Parameter(torch.empty(1)) if bias else None

    def forward(self, x: Tensor, trace: Trace = UNTRACED) -> Tensor:
        """gain · (x − mean) / (deviation + eps) + bias."""
        deviation, mean = torch.std_mean(trace.record("in", x), dim=-1, correction=1, keepdim=True)
        normalized = trace.record("normalized", (x - mean) / (deviation + self.eps))
        return trace.record("out", scale(normalized, self.gain, self.bias))


def scale(normalized: Tensor, gain: Tensor, bias: Tensor | None) -> Tensor:
    """gain · normalized + bias."""
    return gain * normalized if bias is None else torch.addcmul(bias, gain, normalized)


class RMSNorm(nn.Module):
    """Divide by the root mean square: no mean, no bias (Zhang & Sennrich 2019, equation 4)."""

    def __init__(self, width: int, eps: float) -> None:
        super().__init__()
        self.eps = eps
        self.gain = nn.Parameter(torch.empty(width))

    def forward(self, x: Tensor, trace: Trace = UNTRACED) -> Tensor:
        """gain · x / √(mean(x²) + eps)."""
        rms = torch.sqrt(trace.record("in", x).square().mean(dim=-1, keepdim=True) + self.eps)
        normalized = trace.record("normalized", x / rms)
        return trace.record("out", self.gain * normalized)


class NoNorm(nn.Module):
    """Hand the input on."""

    def forward(self, x: Tensor, trace: Trace = UNTRACED) -> Tensor:
        """Record the same tensor at all three points."""
        return trace.record("out", trace.record("normalized", trace.record("in", x)))


def build_norm(config: ModelConfig, width: int = 0) -> nn.Module:
    """Return a new norm of the config's kind; over d_model features by default."""
    width = width or config.d_model
    if config.norm == "none":
        return NoNorm()
    if config.norm == "rms":
        return RMSNorm(width, config.norm_eps)
    if config.norm == "scalar":
        return ScalarNorm(config.norm_eps, config.bias)
    return LayerNorm(width, config.norm_eps, config.bias)
