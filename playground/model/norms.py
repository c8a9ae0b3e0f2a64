"""The four normalisations, interchangeable: (B, T, d_model) → (B, T, d_model)."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from playground.config import ModelConfig
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
