"""A batch's sentences as vectors: of every token as it leaves the encoder, and of every sentence at every depth.

Legend: S depths, N sentences, T tokens, padding included, D = d_model. A depth counts the blocks passed: 0 is the
embeddings; where a final norm follows the last block, what leaves that norm is one depth more.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from playground.analysis.effects.sentence_vectors import POOLINGS, Pooling, pool
from playground.analysis.streams import cosine_between_tokens
from playground.config import ModelConfig
from playground.model import Encoder
from playground.model.interventions import Intervention
from playground.runs.arrays import Array, freeze
from playground.runs.batch_runs import run_batch
from playground.text import Batch


@dataclass(frozen=True)
class SentenceDepths:
    """What an encoder makes of the sentences of one batch; arrays are read-only."""

    tokens: tuple[tuple[str, ...], ...]
    """Each sentence's pieces, and `[PAD]` up to T."""
    padding: NDArray[np.bool_]
    """(N, T)"""
    final: Array
    """(N, T, D): each token's vector as it leaves the encoder."""
    pooled: Mapping[Pooling, Array]
    """(S, N, D): each sentence's vector at each depth, by how its tokens' vectors become one."""

    @property
    def n_tokens(self) -> list[int]:
        """Tokens of each sentence, padding left out."""
        return [int(count) for count in (~self.padding).sum(axis=1)]

    @property
    def is_finite(self) -> bool:
        """Whether every number is within fp32's range."""
        return all(bool(np.isfinite(array).all()) for array in (self.final, *self.pooled.values()))

    def similarity(self, pooling: Pooling) -> Array:
        """Cosine of the angle between each two sentences' vectors as they leave the encoder: (N, N), -1 … 1."""
        return cosine_between_tokens(self.pooled[pooling][-1])


def list_depths(config: ModelConfig) -> list[str]:
    """The trace's names of the points at which sentences are compared, in the order of computation."""
    points = ["embed.out", *(f"layers.{i}.out" for i in range(config.n_layers))]
    return [*points, "final"] if config.final_norm and config.norm != "none" else points


def name_depths(config: ModelConfig) -> list[str]:
    """The points of `list_depths` in words."""
    names = ["embeddings", *(f"after block {i + 1} of {config.n_layers}" for i in range(config.n_layers))]
    return [*names, "after the final norm"][: len(list_depths(config))]


def read_depths(
    encoder: Encoder,
    batch: Batch,
    *,
    seed: int = 0,
    causal: bool = False,
    interventions: Sequence[Sequence[Intervention]] = (),
) -> SentenceDepths:
    """Run every sentence of a batch; arguments and errors as of `run_batch`. Every sentence has to have a token."""
    points = list_depths(encoder.config)
    padding = ~batch.mask.numpy()
    n_sentences, n_tokens = padding.shape
    final = np.zeros((n_sentences, n_tokens, encoder.config.d_model), np.float32)
    pooled = {pooling: np.zeros((len(points), n_sentences, encoder.config.d_model), np.float32) for pooling in POOLINGS}
    steps = run_batch(
        encoder, batch, keep=frozenset(points).__contains__, seed=seed, causal=causal, interventions=interventions
    )
    for step in steps:
        for row, sentence in enumerate(step.sentences):
            final[sentence] = step.arrays[points[-1]][row]
            for depth, point in enumerate(points):
                for pooling, vectors in pooled.items():
                    vectors[depth, sentence] = pool(step.arrays[point][row], padding[sentence], pooling)
    freeze(padding, final, *pooled.values())
    tokens = tuple((*row, *["[PAD]"] * (n_tokens - len(row))) for row in batch.tokens)
    return SentenceDepths(tokens, padding, final, pooled)
