"""The whole transformer: an encoder, a decoder that reads from it, a score for every next token.

B sentences, Ts/Tt source/target tokens.
"""

from dataclasses import replace
from functools import partial

from torch import Tensor, nn

from playground.config import ModelConfig
from playground.errors import ConfigError, InputError
from playground.model.attention import UNMASKED, Attention, AttentionMask, decoder_mask, over_heads
from playground.model.blocks import FeedForward, ResidualBlock, Transform, build_post_norm, sandwich
from playground.model.encoder import Embeddings, Encoder, build_layers, build_relative, check_vectors, layer_masks
from playground.model.init import Linear, initial_weights
from playground.model.norms import NoNorm, build_norm
from playground.model.trace import UNTRACED, Trace, or_untraced


class DecoderBlock(ResidualBlock):
    """One layer of a decoder: `self_attn`, `cross_attn`, `ffn`, `norm1` to `norm3`."""

    def __init__(self, config: ModelConfig, layer: int = 0) -> None:
        super().__init__(config)
        self.self_attn = Attention(config, layer)
        self.cross_attn = Attention(config, layer)
        self.ffn = FeedForward(config)
        self.norm1 = build_norm(config) if config.has_norm1(layer) else NoNorm()
        self.norm2 = build_norm(config)
        self.norm3 = build_norm(config)
        self.post_norm1, self.post_norm2, self.post_norm3 = (build_post_norm(config) for _ in range(3))

    def forward(
        self,
        x: Tensor,
        memory: Tensor,
        mask: AttentionMask = UNMASKED,
        memory_mask: AttentionMask = UNMASKED,
        trace: Trace = UNTRACED,
    ) -> Tensor:
        """x (B, Tt, d_model), memory (B, Ts, d_model) → (B, Tt, d_model); masks over (Tt, Tt) and (Tt, Ts)."""
        self_attn: Transform = partial(self.self_attn, mask=mask, trace=trace.scope("self_attn"))
        self_attn = sandwich(self_attn, self.post_norm1, trace.scope("post_norm1"))
        norm1 = partial(self.norm1, trace=trace.scope("norm1"))
        x = self.connect(x, self_attn, norm1, partial(trace.record, "resid_mid"))

        noted = trace.scope("cross_attn")
        cross_attn: Transform = partial(self.cross_attn, mask=memory_mask, trace=noted, memory=memory)
        cross_attn = sandwich(cross_attn, self.post_norm2, trace.scope("post_norm2"))
        norm2 = partial(self.norm2, trace=trace.scope("norm2"))
        x = self.connect(x, cross_attn, norm2, partial(trace.record, "resid_cross"))

        ffn: Transform = partial(self.ffn, trace=trace.scope("ffn"))
        ffn = sandwich(ffn, self.post_norm3, trace.scope("post_norm3"))
        norm3 = partial(self.norm3, trace=trace.scope("norm3"))
        x = self.connect(x, ffn, norm3, partial(trace.record, "resid_post"))
        return trace.record("out", x)


class Decoder(nn.Module):
    """Target embeddings, N blocks, a final norm (Vaswani et al. 2017, section 3.1)."""

    def __init__(self, config: ModelConfig, tgt_vocab_size: int) -> None:
        super().__init__()
        self.config = replace(config, vocab_size=tgt_vocab_size)
        self.embed = Embeddings(self.config)
        self.layers = build_layers(config, DecoderBlock)
        self.final_norm = build_norm(config) if config.final_norm else None
        self.relative = build_relative(config)

    def forward(
        self,
        ids: Tensor,
        memory: Tensor,
        memory_mask: Tensor | None = None,
        mask: Tensor | None = None,
        trace: Trace = UNTRACED,
    ) -> Tensor:
        """Decode target ids (B, Tt) beside memory (B, Ts, d_model) → (B, Tt, d_model).

        `memory_mask` is (B, Ts); `mask` (B, Tt) on top of the causal one, or (B or 1, Tt, Tt) instead of it.
        """
        x = self.embed(ids, trace.scope("embed"))
        check_vectors(memory, self.config.d_model)
        if memory.shape[0] != x.shape[0]:
            raise InputError(f"The memory holds {memory.shape[0]} sentences, the target {x.shape[0]}.")
        target_masks = layer_masks(self.config, self.relative, decoder_mask(mask, x.shape[0], x.shape[1], x.device), x)
        source_mask = AttentionMask(over_heads(memory_mask, x.shape[0], 1, memory.shape[1]))  # one row for all queries
        for i, layer in enumerate(self.layers):
            x = layer(x, memory, target_masks[i], source_mask, trace.scope(f"layers.{i}"))
        if self.final_norm is not None:
            x = self.final_norm(x, trace.scope("final_norm"))
        return trace.record("final", x)


class EncoderDecoder(nn.Module):
    """A transformer (Vaswani et al. 2017, figure 1) in its config's variant, in eval mode.

    The config's `vocab_size` is the source's. Parameters are named `encoder.…`, `decoder.…`, `fc.…`.
    """

    def __init__(self, config: ModelConfig, tgt_vocab_size: int, seed: int | None = 0) -> None:
        super().__init__()
        if tgt_vocab_size < 1:
            raise ConfigError("tgt_vocab_size", tgt_vocab_size, "leaves no word to predict", (1,))
        self.config = config
        with initial_weights(self, seed, config.initialisation, drawn="encoder"):
            self.encoder = Encoder(config, seed)
            self.decoder = Decoder(config, tgt_vocab_size)
            self.fc = Linear(config.d_model, tgt_vocab_size)

    def forward(
        self,
        src_ids: Tensor,
        tgt_ids: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        trace: Trace | None = UNTRACED,
    ) -> Tensor:
        """Score every target word as the next one: (B, Ts), (B, Tt) int64 → (B, Tt, tgt_vocab_size).

        `src_mask` is (B, Ts); `tgt_mask` as `mask` in `Decoder.forward`.

        Raises:
            InputError: ids or a mask have another shape, or a sentence is over max_len.
        """
        return self.decode(tgt_ids, self.encode(src_ids, src_mask, trace), src_mask, tgt_mask, trace)

    def encode(self, src_ids: Tensor, src_mask: Tensor | None = None, trace: Trace | None = UNTRACED) -> Tensor:
        """Read the source once: (B, Ts) → memory (B, Ts, d_model)."""
        trace = or_untraced(trace)
        return self.encoder(src_ids, src_mask, trace.scope("encoder"))  # type: ignore[no-any-return]

    def decode(
        self,
        tgt_ids: Tensor,
        memory: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        trace: Trace | None = UNTRACED,
    ) -> Tensor:
        """Score the words after the target → logits (B, Tt, tgt_vocab_size)."""
        trace = or_untraced(trace)
        x = self.decoder(tgt_ids, memory, src_mask, tgt_mask, trace.scope("decoder"))  # (B, Tt, d_model)
        return trace.record("logits", self.fc(x))
