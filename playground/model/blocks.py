"""The encoder block: attention, then feed-forward, each with its norm and residual."""

from collections.abc import Callable
from functools import partial

from torch import Tensor, nn

from playground.config import ModelConfig
from playground.model.attention import Attention
from playground.model.feedforward import FeedForward
from playground.model.masks import UNMASKED, AttentionMask
from playground.model.norms import build_norm
from playground.model.trace import UNTRACED, Trace

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
