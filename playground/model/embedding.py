"""Token ids → vectors: table, scale, positions, segments, norm, dropout."""

import math

import torch
from torch import Tensor, nn

from playground.config import ModelConfig
from playground.errors import InputError
from playground.model.dropout import Dropout
from playground.model.init import Embedding
from playground.model.norms import build_norm
from playground.model.positions import sinusoids
from playground.model.trace import UNTRACED, Trace, or_untraced


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
