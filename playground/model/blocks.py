"""The encoder block: attention, then feed-forward, each with its norm and residual."""

from torch import Tensor, nn

from playground.config import ModelConfig
from playground.model.attention import Attention
from playground.model.feedforward import FeedForward
from playground.model.norms import build_norm
from playground.model.trace import UNTRACED, Trace


class EncoderBlock(nn.Module):
    """One layer of an encoder, normalised before or after each sublayer."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.attn = Attention(config)
        self.ffn = FeedForward(config)
        self.norm1 = build_norm(config)
        self.norm2 = build_norm(config)
        self.residual = config.residual
        self.pre_norm = config.norm_placement == "pre"

    def forward(self, x: Tensor, mask: Tensor | None = None, trace: Trace = UNTRACED) -> Tensor:
        """x (B, T, d_model) → (B, T, d_model); mask as in `attend`."""
        out = self._pre(x, mask, trace) if self.pre_norm else self._post(x, mask, trace)
        return trace.record("out", out)

    def _post(self, x: Tensor, mask: Tensor | None, trace: Trace) -> Tensor:
        """norm(x + sublayer(x)), twice (Vaswani et al. 2017, section 3.1)."""
        mid = trace.record("resid_mid", self.add(x, self.attn(x, mask, trace.scope("attn"))))
        x = self.norm1(mid, trace.scope("norm1"))
        post = trace.record("resid_post", self.add(x, self.ffn(x, trace.scope("ffn"))))
        return self.norm2(post, trace.scope("norm2"))  # type: ignore[no-any-return]

    def _pre(self, x: Tensor, mask: Tensor | None, trace: Trace) -> Tensor:
        """x + sublayer(norm(x)), twice (Xiong et al. 2020)."""
        normed = self.norm1(x, trace.scope("norm1"))
        mid = trace.record("resid_mid", self.add(x, self.attn(normed, mask, trace.scope("attn"))))
        normed = self.norm2(mid, trace.scope("norm2"))
        return trace.record("resid_post", self.add(mid, self.ffn(normed, trace.scope("ffn"))))

    def add(self, x: Tensor, sublayer: Tensor) -> Tensor:
        """The residual connection (He et al. 2015), where there is one."""
        return x + sublayer if self.residual else sublayer
