"""The decoder: blocks that look at their own tokens, without peeking ahead, and at what an encoder made of the source.

Legend: B sentences, Ts/Tt source/target tokens.
"""

from dataclasses import replace
from functools import partial

from torch import Tensor, nn

from playground.config import ModelConfig
from playground.errors import InputError
from playground.model.attention import Attention
from playground.model.blocks import ResidualBlock
from playground.model.embedding import Embeddings, check_vectors
from playground.model.feedforward import FeedForward
from playground.model.masks import UNMASKED, AttentionMask, no_peek, over_heads
from playground.model.norms import build_norm
from playground.model.trace import UNTRACED, Trace


class DecoderBlock(ResidualBlock):
    """One layer of a decoder: self-attention, cross-attention, feed-forward.

    A trace gets `self_attn.…`, `cross_attn.…` and `ffn.…` as an encoder's block notes them, `norm1.…` to `norm3.…`, the
    residual stream after each sublayer is added, `resid_mid`, `resid_cross` and `resid_post`, and `out`.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.self_attn = Attention(config)
        self.cross_attn = Attention(config)
        self.ffn = FeedForward(config)
        self.norm1 = build_norm(config)
        self.norm2 = build_norm(config)
        self.norm3 = build_norm(config)

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        mask: AttentionMask = UNMASKED,
        memory_mask: AttentionMask = UNMASKED,
        trace: Trace = UNTRACED,
    ) -> Tensor:
        """The target's x (B, Tt, d_model), the encoder's memory (B, Ts, d_model) → (B, Tt, d_model).

        `mask` is over the target, (Tt, Tt), and `memory_mask` over the source, (Tt, Ts), both as in `attend`. No norm
        of the decoder reads the memory.
        """
        self_attn = partial(self.self_attn, mask=mask, trace=trace.scope("self_attn"))
        norm1 = partial(self.norm1, trace=trace.scope("norm1"))
        x = self.connect(x, self_attn, norm1, partial(trace.record, "resid_mid"))

        cross_attn = partial(self.cross_attn, mask=memory_mask, trace=trace.scope("cross_attn"), memory=memory)
        norm2 = partial(self.norm2, trace=trace.scope("norm2"))
        x = self.connect(x, cross_attn, norm2, partial(trace.record, "resid_cross"))

        ffn = partial(self.ffn, trace=trace.scope("ffn"))
        norm3 = partial(self.norm3, trace=trace.scope("norm3"))
        x = self.connect(x, ffn, norm3, partial(trace.record, "resid_post"))
        return trace.record("out", x)


class Decoder(nn.Module):
    """Target embeddings, N blocks, and a final norm where the config has one (Vaswani et al. 2017, section 3.1).

    Args:
        config: the architecture, of the encoder's fields; `vocab_size` is the source's.
        tgt_vocab_size: rows of the target's token table.
    """

    def __init__(self, config: ModelConfig, tgt_vocab_size: int) -> None:
        super().__init__()
        self.config = replace(config, vocab_size=tgt_vocab_size)
        self.embed = Embeddings(self.config)
        self.layers = nn.ModuleList(DecoderBlock(config) for _ in range(config.n_layers))
        self.final_norm = build_norm(config) if config.final_norm else None

    def forward(
        self,
        ids: Tensor,
        memory: Tensor,
        memory_mask: Tensor | None = None,
        mask: Tensor | None = None,
        trace: Trace = UNTRACED,
    ) -> Tensor:
        """Decode target ids (B, Tt) beside memory (B, Ts, d_model) → (B, Tt, d_model).

        `memory_mask` is boolean over source tokens, (B, Ts); `mask` over target keys, (B, Tt), on top of the no-peek
        mask, or (B or 1, Tt, Tt) instead of it. True = may be looked at.

        Raises:
            InputError: ids, memory or a mask have another shape, or the target is longer than the config's max_len.
        """
        x = self.embed(ids, trace.scope("embed"))
        check_vectors(memory, self.config.d_model)
        if memory.shape[0] != x.shape[0]:
            raise InputError(f"The memory holds {memory.shape[0]} sentences, the target {x.shape[0]}.")
        target_mask = AttentionMask(no_peek(mask, x.shape[0], x.shape[1], x.device))
        source_mask = AttentionMask(over_heads(memory_mask, x.shape[0], 1, memory.shape[1]))  # one row for all queries
        for i, layer in enumerate(self.layers):
            x = layer(x, memory, target_mask, source_mask, trace.scope(f"layers.{i}"))
        if self.final_norm is not None:
            x = self.final_norm(x, trace.scope("final_norm"))
        return trace.record("final", x)
