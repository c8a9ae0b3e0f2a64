"""The encoder: embeddings with their positions, N blocks, and a final norm where the config has one."""

import math
from itertools import islice

import torch
from torch import Tensor, nn

from playground.config import ModelConfig
from playground.errors import InputError
from playground.model.attention import AttentionMask, over_heads
from playground.model.blocks import EncoderBlock, build_norm
from playground.model.dropout import Dropout
from playground.model.init import Embedding, initial_weights
from playground.model.trace import UNTRACED, Trace, or_untraced


def frequencies(d_model: int, *, doubled: bool = False) -> Tensor:
    """Radians per position of each sine-cosine pair: (⌈d_model / 2⌉,), float64.

    Pair i turns at 1 / 10000^(2i / d_model) (Vaswani et al. 2017, section 3.5). `doubled` counts the exponent twice, as
    tutorial B does: each frequency is then the square of the standard one.
    """
    exponents = torch.arange(0, d_model, 2, dtype=torch.float64, device="cpu") / d_model
    return 10_000.0 ** -(2 * exponents if doubled else exponents)


def wavelengths(d_model: int, *, doubled: bool = False) -> Tensor:
    """Positions after which each sine-cosine pair repeats: (⌈d_model / 2⌉,), float64."""
    return 2 * math.pi / frequencies(d_model, doubled=doubled)


def sinusoids(n_positions: int, d_model: int, *, doubled: bool = False) -> Tensor:
    """Sines in the even columns, cosines in the odd ones: (n_positions, d_model), float32.

    An odd d_model ends on a sine. Always on the CPU, so that a model whose weights are not there yet has its table.
    """
    positions = torch.arange(n_positions, dtype=torch.float64, device="cpu")
    angles = positions[:, None] * frequencies(d_model, doubled=doubled)  # (n_positions, ⌈d_model / 2⌉)
    pairs = torch.stack([angles.sin(), angles.cos()], dim=-1)  # (n_positions, ⌈d_model / 2⌉, 2)
    return pairs.flatten(1)[:, :d_model].float()


class Embeddings(nn.Module):
    """What stands between the tokens' ids and the first block (Vaswani et al. 2017, sections 3.4 and 3.5)."""

    sinusoids: Tensor

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.tokens = Embedding(config.vocab_size, config.d_model) if config.vocab_size else None
        self.positions: Embedding | None = None
        if config.positions == "learned":
            self.positions = Embedding(config.max_len, config.d_model)
        elif config.positions != "none":
            doubled = config.positions == "sinusoidal-doubled"
            table = sinusoids(config.max_len, config.d_model, doubled=doubled)
            self.register_buffer("sinusoids", table, persistent=False)
        self.segments = Embedding(config.n_segments, config.d_model) if config.n_segments else None
        self.norm = build_norm(config) if config.embedding_norm else None
        self.dropout = Dropout(config.dropout, "positions")

    def forward(self, ids: Tensor, trace: Trace | None = UNTRACED) -> Tensor:
        """Embed ids (B, T) int64 → (B, T, d_model).

        Raises:
            InputError: the model has no token table, ids are not (B, T), or T is over the config's max_len.
        """
        if self.tokens is None:
            raise InputError("This encoder has vocab_size=0, no token table; give embed_vectors raw vectors instead.")
        if ids.ndim != 2:
            raise InputError(f"Token ids have shape (sentences, tokens); these have {tuple(ids.shape)}.")
        x = self.tokens(ids)  # (B, T, d_model)
        if self.config.scale_embeddings:
            x = x * math.sqrt(self.config.d_model)
        return self.place(x, trace)

    def place(self, x: Tensor, trace: Trace | None = UNTRACED) -> Tensor:
        """Add positions and segments to vectors (B, T, d_model), then norm and dropout where the config has them."""
        trace = or_untraced(trace)
        x = trace.record("tokens", x)
        if self.config.positions != "none":
            x = x + self.position_vectors(x.shape[1])
        if self.segments is not None:
            x = x + self.segments.weight[0]  # a single sentence is segment 0 throughout
        x = trace.record("sum", x)
        if self.norm is not None:
            x = self.norm(x, trace.scope("norm"))
        return trace.record("out", self.dropout(x, trace))

    def position_vectors(self, n_tokens: int) -> Tensor:
        """Return the first T rows of the position table: (T, d_model).

        Raises:
            InputError: T is over the config's max_len.
        """
        if n_tokens > self.config.max_len:
            raise InputError(
                f"A sentence of {n_tokens} tokens is longer than the position table, which has "
                f"max_len={self.config.max_len} rows; shorten the sentence or raise max_len to {n_tokens}."
            )
        table: Tensor = self.sinusoids if self.positions is None else self.positions.weight
        return table[:n_tokens]

    def position_table(self) -> Tensor | None:
        """The whole position table, (max_len, d_model), or None where the config has no positions."""
        return None if self.config.positions == "none" else self.position_vectors(self.config.max_len)


def check_vectors(x: Tensor, d_model: int) -> None:
    """Refuse vectors that are not (B, T, d_model)."""
    if x.ndim != 3 or x.shape[-1] != d_model or not torch.is_floating_point(x):
        raise InputError(f"Vectors have shape (sentences, tokens, {d_model}); these have {tuple(x.shape)}.")


class Encoder(nn.Module):
    """A transformer encoder (Vaswani et al. 2017, section 3.1), in any of its config's variants.

    It starts in eval mode, so that the same ids give the same numbers; call `train()` for dropout.

    Args:
        config: the architecture.
        seed: the initial weights, drawn on the CPU: the same everywhere, and each tensor's apart from the others', so
            that a deeper or wider encoder shares what it can (see `initialise`). None draws and allocates no weights:
            the model has their shapes alone (torch's meta device), to be counted or to have weights loaded.
    """

    def __init__(self, config: ModelConfig, seed: int | None = 0) -> None:
        super().__init__()
        self.config = config
        with initial_weights(self, seed, config.initialisation):
            self.embed = Embeddings(config)
            self.layers = nn.ModuleList(EncoderBlock(config) for _ in range(config.n_layers))
            self.final_norm = build_norm(config) if config.final_norm else None

    def forward(self, ids: Tensor, mask: Tensor | None = None, trace: Trace | None = UNTRACED) -> Tensor:
        """Encode token ids (B, T) int64 → (B, T, d_model); the output is the same with and without a trace.

        The mask is boolean, True = may attend: (B, T) over keys, or (B or 1, T, T) over query-key pairs. Where B = T, a
        causal (T, T) is refused, as it has both shapes: `masks.over_heads` says how to write what is meant.

        Raises:
            InputError: ids or mask have another shape, or the sentence is longer than the config's max_len.
        """
        trace = or_untraced(trace)
        return self.encode(self.embed(ids, trace.scope("embed")), mask, trace)

    def embed_vectors(self, x: Tensor, trace: Trace | None = UNTRACED) -> Tensor:
        """Place raw vectors (B, T, d_model) as `embed` places rows of its table (tutorials B and C)."""
        check_vectors(x, self.config.d_model)
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
        """Run embedded vectors (B, T, d_model) through the blocks and the final norm; mask and trace as in `forward`.

        With a `first_layer`, the blocks before it are left out, and x is what would leave them. With an `end_layer`,
        the pass ends before that block, without the final norm.
        """
        check_vectors(x, self.config.d_model)
        trace = or_untraced(trace)
        prepared = AttentionMask(over_heads(mask, x.shape[0], x.shape[1], x.shape[1]))
        for i, layer in islice(enumerate(self.layers), first_layer, end_layer):
            x = layer(x, prepared, trace.scope(f"layers.{i}"))
        if end_layer is not None:
            return x
        if self.final_norm is not None:
            x = self.final_norm(x, trace.scope("final_norm"))
        return trace.record("final", x)
