"""The four norms (section 3.1 has the first): of a token's features, or of a head's."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from playground.config import ModelConfig
from playground.model.trace import UNTRACED, Trace


class LayerNorm(nn.Module):
    """Zero mean and unit variance over each token's features, then a gain and a bias per feature (Ba et al. 2016)."""

    def __init__(self, width: int, eps: float, bias: bool = True) -> None:
        super().__init__()
        self.eps = eps
        self.gain = nn.Parameter(torch.empty(width))
        self.bias = nn.Parameter(torch.empty(width)) if bias else None

    def forward(self, x: Tensor, trace: Trace = UNTRACED) -> Tensor:
        """gain · (x − mean) / √(variance + eps) + bias; torch computes it, in one step if unwatched."""
        if not trace.recording:
            return F.layer_norm(x, self.gain.shape, self.gain, self.bias, self.eps)
        normalized = trace.record("normalized", F.layer_norm(trace.record("in", x), self.gain.shape, eps=self.eps))
        return trace.record("out", scale(normalized, self.gain, self.bias))


class ScalarNorm(nn.Module):
    """Tutorial A's norm: one gain and one bias for all features, the unbiased deviation, eps added to it."""

    def __init__(self, eps: float, bias: bool = True) -> None:
        super().__init__()
        self.eps = eps
        self.gain = nn.Parameter(torch.empty(1))
        self.bias = nn.Parameter(torch.empty(1)) if bias else None

    def forward(self, x: Tensor, trace: Trace = UNTRACED) -> Tensor:
        """Normalise by mean and standard deviation, divided by d_model − 1."""
        deviation, mean = torch.std_mean(trace.record("in", x), dim=-1, correction=1, keepdim=True)
        normalized = trace.record("normalized", (x - mean) / (deviation + self.eps))
        return trace.record("out", scale(normalized, self.gain, self.bias))


def scale(normalized: Tensor, gain: Tensor, bias: Tensor | None) -> Tensor:
    """gain · normalized + bias, which broadcast over tokens; without a bias, the product alone."""
    return gain * normalized if bias is None else torch.addcmul(bias, gain, normalized)


class RMSNorm(nn.Module):
    """Divide by the root mean square: no mean, no bias (Zhang & Sennrich 2019, equation 4)."""

    def __init__(self, width: int, eps: float) -> None:
        super().__init__()
        self.eps = eps
        self.gain = nn.Parameter(torch.empty(width))

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


def build_norm(config: ModelConfig, width: int = 0) -> nn.Module:
    """A new norm of the config's kind, over so many features; over d_model by default."""
    width = width or config.d_model
    if config.norm == "none":
        return NoNorm()
    if config.norm == "rms":
        return RMSNorm(width, config.norm_eps)
    if config.norm == "scalar":
        return ScalarNorm(config.norm_eps, config.bias)
    return LayerNorm(width, config.norm_eps, config.bias)
