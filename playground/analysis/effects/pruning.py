"""What is left of a sentence without its least important heads, beside heads that are taken out in random order.

As Michel et al. 2019 (section 4.1) prune heads: sorted once by the effect that each has alone, the smallest first.
Legend: P sizes, a number of removed heads each.
"""

from collections.abc import Sequence

import numpy as np

from playground.analysis.effects.sentence_vectors import Pooling, pool, sentence_vector
from playground.analysis.effects.vector_changes import compare_vectors
from playground.config import ModelConfig
from playground.model import Encoder
from playground.model.interventions import ZeroHead
from playground.model.random_numbers import fill_uniform
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.runs.variant_runs import run_variants
from playground.text import Batch

MAX_SIZES = 36
"""Steps of a pruning curve: with more heads, each step takes out several."""

Order = tuple[int, ...]
"""Heads in the order of their removal, each counted through the layers: layer · n_heads + head."""


def order_by_effect(effects: Array) -> Order:
    """The heads of a map (L, H), the least effect first, an unmeasured one last; of equal ones the earlier first."""
    return tuple(np.argsort(effects.ravel(), kind="stable").tolist())


def order_at_random(config: ModelConfig, seed: int) -> Order:
    """All heads in an order that is drawn from a seed, the same everywhere."""
    numbers = np.empty((1, config.n_layers * config.n_heads), dtype=np.float32)
    fill_uniform(numbers, seed, "pruning", 1.0)
    return tuple(np.argsort(numbers[0], kind="stable").tolist())


def pruned_sizes(config: ModelConfig) -> range:
    """How many heads a curve's points remove: from 0 to all, or the last whole step below."""
    n_heads = config.n_layers * config.n_heads
    return range(0, n_heads + 1, -(-n_heads // MAX_SIZES))


def remove_heads(order: Order, n: int, config: ModelConfig) -> list[ZeroHead]:
    """The first n heads of an order at zero, in the order of the model."""
    return [ZeroHead(*divmod(number, config.n_heads)) for number in sorted(order[:n])]


def measure_pruning(
    encoder: Encoder,
    batch: Batch,
    sentence: int,
    untouched: Run,
    removals: Sequence[Sequence[ZeroHead]],
    *,
    pooling: Pooling = "mean",
    seed: int = 0,
    causal: bool = False,
) -> Array:
    """The cosine between the sentence's vector and that without each of several sets of heads: (P,), 1 is no loss.

    Arguments as of `part_importance.measure_parts`.
    """
    before = sentence_vector(untouched, pooling)
    left = np.full(len(removals), np.nan, dtype=np.float32)
    for step in run_variants(encoder, batch, sentence, removals, seed=seed, causal=causal, untouched=untouched):
        after = pool(step.final, untouched.padding, pooling)
        left[list(step.numbers)] = compare_vectors(np.broadcast_to(before, after.shape), after).cosine
    return left
