"""The encoder: embeddings with positions, N blocks, a final norm."""

import math
from collections.abc import Callable
from itertools import islice

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from playground.config import ModelConfig
from playground.errors import InputError
from playground.model.attention import AttentionMask, over_heads
from playground.model.blocks import EncoderBlock
from playground.model.init import Dropout, Embedding, Linear, initial_weights
from playground.model.norms import build_norm
from playground.model.positions import RelativePositions, alibi, sinusoids
from playground.model.trace import UNTRACED, Trace, or_untraced


class Embeddings(nn.Module):
    """From token ids to the first block (Vaswani et al. 2017, sections 3.4 and 3.5)."""

    sinusoids: Tensor

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        width, columns = config.embedding_width, config.table_width
        self.tokens = Embedding(config.vocab_size, columns) if config.vocab_size else None
        self.positions: Embedding | None = None
        if config.positions == "learned":
            self.positions = Embedding(config.position_offset + config.max_len, columns)
        elif config.has_position_table:
            table = sinusoids(config.max_len, columns, doubled=config.positions == "sinusoidal-doubled")
            self.register_buffer("sinusoids", table, persistent=False)
        self.segments = Embedding(config.n_segments, width) if config.n_segments else None
        self.norm = build_norm(config, width) if config.embedding_norm else None
        self.project = Linear(width, config.d_model, config.bias) if config.d_embedding else None
        self.dropout = Dropout(config.dropout, "positions")

    def forward(self, ids: Tensor, trace: Trace | None = UNTRACED, keys: Tensor | None = None) -> Tensor:
        """Embed ids (B, T) int64 → (B, T, d_model); InputError if they do not fit."""
        if self.tokens is None:
            raise InputError("This encoder has vocab_size=0, no token table; give embed_vectors raw vectors instead.")
        if ids.ndim != 2:
            raise InputError(f"Token ids have shape (sentences, tokens); these have {tuple(ids.shape)}.")
        if ids.dtype not in (torch.int64, torch.int32):
            raise InputError(f"Token ids are whole numbers of type int64; these are {ids.dtype}.")
        try:
            x = self.tokens(ids)  # (B, T, d_model)
        except IndexError as error:
            limits = f"0 to {self.config.vocab_size - 1:,}; these go from {ids.min():,} to {ids.max():,}"
            raise InputError(f"The token table has rows for the ids {limits}.") from error
        if self.config.scale_embeddings:
            x = x * math.sqrt(self.config.d_model)
        return self.place(x, trace, keys)

    def place(self, x: Tensor, trace: Trace | None = UNTRACED, keys: Tensor | None = None) -> Tensor:
        """Add positions and segments to vectors (B, T, width), then norm, dropout and the map to d_model.

        Concatenated are tokens with zeros behind them plus positions with zeros before them. With an offset and `keys`
        (B, T), positions skip padding.
        """
        trace = or_untraced(trace)
        x = trace.record("tokens", self.before_positions(x))
        if self.config.has_position_table:
            x = x + self.position_vectors(x.shape[1], keys)
        if self.segments is not None:
            x = x + self.segments.weight[0]  # a single sentence is segment 0 throughout
        x = trace.record("sum", x)
        if self.norm is not None:
            x = self.norm(x, trace.scope("norm"))
        x = self.dropout(x, trace)
        return trace.record("out", x if self.project is None else self.project(x))

    def position_vectors(self, n_tokens: int, keys: Tensor | None = None) -> Tensor:
        """Return the rows for T tokens, (T, width); InputError if T is over max_len."""
        if n_tokens > self.config.max_len:
            raise InputError(
                f"A sentence of {n_tokens} tokens is longer than the position table, which has "
                f"max_len={self.config.max_len} rows; shorten the sentence or raise max_len to {n_tokens}."
            )
        first = self.config.position_offset
        if self.positions is None:
            rows = self.sinusoids[:n_tokens]
        elif first and keys is not None:
            rows = self.positions(keys.cumsum(dim=1) * keys + first - 1)
        else:
            rows = self.positions.weight[first : first + n_tokens]
        return rows if self.config.position_join == "add" else F.pad(rows, (self.config.table_width, 0))

    def before_positions(self, tokens: Tensor) -> Tensor:
        """Return rows of tokens, (…, embedding_width): with zeros behind them where positions are concatenated."""
        missing = self.config.embedding_width - tokens.shape[-1]
        return F.pad(tokens, (0, missing)) if missing else tokens

    def position_table(self) -> Tensor | None:
        """The rows of tokens, (max_len, width), or None."""
        return self.position_vectors(self.config.max_len) if self.config.has_position_table else None


def check_vectors(x: Tensor, d_model: int) -> None:
    """Raise an InputError unless vectors are (B, T, d_model)."""
    if x.ndim != 3 or x.shape[-1] != d_model or not torch.is_floating_point(x):
        raise InputError(f"Vectors have shape (sentences, tokens, {d_model}); these have {tuple(x.shape)}.")


def build_layers(config: ModelConfig, block: Callable[[ModelConfig, int], nn.Module]) -> nn.ModuleList:
    """Return a stack's blocks; shared weights are one block."""
    if config.share_layers:
        return nn.ModuleList([block(config, 0)] * config.n_layers)
    return nn.ModuleList(block(config, i) for i in range(config.n_layers))


def build_relative(config: ModelConfig) -> RelativePositions | None:
    """Return the learned numbers by distance, or None."""
    return RelativePositions(config) if config.positions == "relative" else None


def layer_masks(
    config: ModelConfig, relative: RelativePositions | None, allowed: Tensor | None, x: Tensor
) -> list[AttentionMask]:
    """Return each layer's mask, from one over heads and x (B, T, d_model)."""
    n_tokens, bias = x.shape[1], None
    if relative is not None:
        bias = relative.between(n_tokens)
    elif config.positions == "alibi":
        bias = alibi(config.n_heads, n_tokens, x)
    everywhere = AttentionMask(allowed, bias)
    within = everywhere.within(config.window, n_tokens, x.device)
    return [within if config.window_of(i) else everywhere for i in range(config.n_layers)]


class Encoder(nn.Module):
    """A transformer encoder (Vaswani et al. 2017, section 3.1) in its config's variant, in eval mode.

    `seed` draws the initial weights (see `initialise`); None allocates none (torch's meta device).
    """

    def __init__(self, config: ModelConfig, seed: int | None = 0) -> None:
        super().__init__()
        self.config = config
        with initial_weights(self, seed, config.initialisation):
            self.embed = Embeddings(config)
            self.layers = build_layers(config, EncoderBlock)
            self.final_norm = build_norm(config) if config.final_norm else None
            self.relative = build_relative(config)

    def forward(self, ids: Tensor, mask: Tensor | None = None, trace: Trace | None = UNTRACED) -> Tensor:
        """Encode token ids (B, T) int64 → (B, T, d_model); a trace changes no number.

        The mask is boolean, True = may attend: (B, T) over keys, or (B or 1, T, T) over pairs.

        Raises:
            InputError: ids or mask have another shape, or T is over max_len.
        """
        trace = or_untraced(trace)
        keys = mask if mask is not None and mask.shape == ids.shape else None
        return self.encode(self.embed(ids, trace.scope("embed"), keys), mask, trace)

    def embed_vectors(self, x: Tensor, trace: Trace | None = UNTRACED) -> Tensor:
        """Place raw vectors (B, T, width of the tables) as rows of the table are."""
        check_vectors(x, self.config.embedding_width)
        return self.embed.place(x, or_untraced(trace).scope("embed"))

    def encode(
        self,
        x: Tensor,
        mask: Tensor | None = None,
        trace: Trace | None = UNTRACED,
        *,
        first_layer: int = 0,
        end_layer: int | None = None,
    ) -> Tensor:
        """Run embedded vectors (B, T, d_model) through blocks and final norm; mask and trace as in `forward`.

        It starts at `first_layer`, and ends before `end_layer`, then without the final norm.
        """
        check_vectors(x, self.config.d_model)
        trace = or_untraced(trace)
        masks = layer_masks(self.config, self.relative, over_heads(mask, x.shape[0], x.shape[1], x.shape[1]), x)
        if trace.recording and masks[0].bias is not None:
            trace.record("position_bias", masks[0].bias)
        for i, layer in islice(enumerate(self.layers), first_layer, end_layer):
            x = layer(x, masks[i], trace.scope(f"layers.{i}"))
        if end_layer is not None:
            return x
        if self.final_norm is not None:
            x = self.final_norm(x, trace.scope("final_norm"))
        return trace.record("final", x)
