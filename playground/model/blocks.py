"""The encoder block: attention, then feed-forward, each with its norm and residual."""

from torch import Tensor, nn

from playground.config import ModelConfig
from playground.model.attention import Attention
from playground.model.feedforward import FeedForward
from playground.model.masks import UNMASKED, AttentionMask
from playground.model.norms import build_norm
from playground.model.trace import UNTRACED, Trace


class ResidualBlock(nn.Module):
    """What every block has around a sublayer f: norm(x + f(x)) or x + f(norm(x)), as the config places its norms.

    The first is post-norm (Vaswani et al. 2017, section 3.1), the second pre-norm (Xiong et al. 2020).
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.residual = config.residual
        self.pre_norm = config.norm_placement == "pre"

    def before(self, norm: str, x: Tensor, trace: Trace) -> Tensor:
        """A sublayer's input: x after the named norm in a pre-norm block, else x."""
        return self._normalise(norm, x, trace) if self.pre_norm else x

    def after(self, norm: str, x: Tensor, trace: Trace) -> Tensor:
        """The stream behind a sublayer: x after the named norm in a post-norm block, else x."""
        return x if self.pre_norm else self._normalise(norm, x, trace)

    def add(self, x: Tensor, sublayer: Tensor) -> Tensor:
        """The residual connection (He et al. 2015), where there is one."""
        return x + sublayer if self.residual else sublayer

    def _normalise(self, norm: str, x: Tensor, trace: Trace) -> Tensor:
        return getattr(self, norm)(x, trace.scope(norm))  # type: ignore[no-any-return]


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
        x = self.add(x, self.attn(self.before("norm1", x, trace), mask, trace.scope("attn")))
        x = self.after("norm1", trace.record("resid_mid", x), trace)

        x = self.add(x, self.ffn(self.before("norm2", x, trace), trace.scope("ffn")))
        x = self.after("norm2", trace.record("resid_post", x), trace)
        return trace.record("out", x)
