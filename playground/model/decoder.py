"""The decoder: blocks that look at their own tokens, without peeking ahead, and at what an encoder made of the source.

Legend: B sentences, Ts/Tt source/target tokens.
"""

from dataclasses import replace

from torch import Tensor, nn

from playground.config import ModelConfig
from playground.errors import InputError
from playground.model.attention import Attention
from playground.model.embedding import Embeddings, check_vectors
from playground.model.feedforward import FeedForward
from playground.model.masks import no_peek, over_heads
from playground.model.norms import build_norm
from playground.model.trace import UNTRACED, Trace


class DecoderBlock(nn.Module):
    """One layer of a decoder: self-attention, cross-attention, feed-forward, normalised before or after each.

    A trace gets `self_attn.…`, `cross_attn.…` and `ffn.…` as an encoder's block notes them, `norm1.…` to `norm3.…`, the
    residual stream after each sublayer is added, `resid_mid`, `resid_cross` and `resid_post`, and `out`.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.self_attn = Attention(config)
        self.cross_attn = Attention(config)
        self.ffn = FeedForward(config)
        self.norm1 = build_norm(config)
        self.norm2 = build_norm(config)
        self.norm3 = build_norm(config)
        self.residual = config.residual
        self.pre_norm = config.norm_placement == "pre"

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        trace: Trace = UNTRACED,
    ) -> Tensor:
        """x (B, Tt, d_model), memory (B, Ts, d_model) → (B, Tt, d_model).

        Args:
            x: the target's residual stream.
            memory: what the encoder made of the source.
            mask: who looks where in the target, broadcast to (B, H, Tt, Tt), as in `attend`.
            memory_mask: who looks where in the source, broadcast to (B, H, Tt, Ts).
            trace: where to note every intermediate.
        """
        run = self._pre if self.pre_norm else self._post
        return trace.record("out", run(x, memory, mask, memory_mask, trace))

    def _post(self, x: Tensor, memory: Tensor, mask: Tensor | None, memory_mask: Tensor | None, trace: Trace) -> Tensor:
        """norm(x + sublayer(x)), three times (Vaswani et al. 2017, section 3.1)."""
        mid = trace.record("resid_mid", self.add(x, self.self_attn(x, mask, trace.scope("self_attn"))))
        x = self.norm1(mid, trace.scope("norm1"))
        looked_up = self.cross_attn(x, memory_mask, trace.scope("cross_attn"), memory)
        cross = trace.record("resid_cross", self.add(x, looked_up))
        x = self.norm2(cross, trace.scope("norm2"))
        post = trace.record("resid_post", self.add(x, self.ffn(x, trace.scope("ffn"))))
        return self.norm3(post, trace.scope("norm3"))  # type: ignore[no-any-return]

    def _pre(self, x: Tensor, memory: Tensor, mask: Tensor | None, memory_mask: Tensor | None, trace: Trace) -> Tensor:
        """x + sublayer(norm(x)), three times (Xiong et al. 2020); the memory is not normalised again."""
        normed = self.norm1(x, trace.scope("norm1"))
        mid = trace.record("resid_mid", self.add(x, self.self_attn(normed, mask, trace.scope("self_attn"))))
        normed = self.norm2(mid, trace.scope("norm2"))
        looked_up = self.cross_attn(normed, memory_mask, trace.scope("cross_attn"), memory)
        cross = trace.record("resid_cross", self.add(mid, looked_up))
        normed = self.norm3(cross, trace.scope("norm3"))
        return trace.record("resid_post", self.add(cross, self.ffn(normed, trace.scope("ffn"))))

    def add(self, x: Tensor, sublayer: Tensor) -> Tensor:
        """The residual connection (He et al. 2015), where there is one."""
        return x + sublayer if self.residual else sublayer


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

        Args:
            ids: int64.
            memory: what the encoder made of the source.
            memory_mask: bool, (B, Ts), True = a source token that may be looked at.
            mask: bool: (B, Tt) over target keys, on top of the no-peek mask, or (B or 1, Tt, Tt) instead of it.
            trace: where to note every intermediate.

        Raises:
            InputError: ids, memory or a mask have another shape, or the target is longer than the config's max_len.
        """
        x = self.embed(ids, trace.scope("embed"))
        check_vectors(memory, self.config.d_model)
        if memory.shape[0] != x.shape[0]:
            raise InputError(f"The memory holds {memory.shape[0]} sentences, the target {x.shape[0]}.")
        mask = no_peek(mask, x.shape[0], x.shape[1], x.device)
        memory_mask = over_heads(memory_mask, x.shape[0], 1, memory.shape[1])  # the same for every query
        for i, layer in enumerate(self.layers):
            x = layer(x, memory, mask, memory_mask, trace.scope(f"layers.{i}"))
        if self.final_norm is not None:
            x = self.final_norm(x, trace.scope("final_norm"))
        return trace.record("final", x)
