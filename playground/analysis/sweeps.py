"""One sentence in many variants, each scored by what leaves the encoder.

Parts are switched off one at a time, and heads removed in order (Michel et al. 2019, sections 3.2 and 4.1); vectors are
patched from another sentence: causal tracing (Meng et al. 2022, section 2.1) without noise.

Legend: N variants, L layers, H heads, T tokens, D = d_model, S other sentences.
"""

from collections.abc import Callable, Sequence

import numpy as np
import torch

from playground.analysis.comparison import compare_vectors
from playground.analysis.sentences import pool, sentence_vector
from playground.analysis.streams import l2
from playground.config import ModelConfig
from playground.model import Encoder
from playground.model.changes import SUBLAYERS, Change
from playground.model.init import generator
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.runs.forward_pass import Sources
from playground.runs.variant_runs import Variant, run_variants
from playground.text import Batch

Score = Callable[[Array], Array]
"""Scores variants by the vectors that leave the encoder: (N, T, D) → (N, columns)."""

Order = tuple[int, ...]
"""Heads in the order of their removal: layer · n_heads + head."""

MAX_SIZES = 36


def measure_variants(
    variants: Sequence[Variant],
    score: Score,
    encoder: Encoder,
    batch: Batch,
    untouched: Run,
    *,
    sentence: int = 0,
    seed: int = 0,
    causal: bool = False,
    sources: Sources | None = None,
) -> Array:
    """Score variants of one sentence's run, each a sequence of changes: (N, columns).

    `sources` has the runs that patches take vectors from, by sentence.

    Raises:
        InterventionError: a variant has a change that this sentence cannot have.
        TooLargeError: not even one variant fits the memory budget.
    """
    steps = run_variants(
        encoder, batch, sentence, variants, seed=seed, causal=causal, sources=sources, untouched=untouched
    )
    scored = [(numbers, score(final)) for numbers, final in steps]
    order = np.argsort([number for numbers, _ in scored for number in numbers])
    measured: Array = np.concatenate([scores for _, scores in scored])[order]
    return measured


def score_change(untouched: Run, others: Array | None = None) -> Score:
    """Score by the sentence vector's relative change and its cosines with others, (S, D): (N, 1 + S)."""
    before = sentence_vector(untouched)
    compared = np.zeros((0, before.size), np.float32) if others is None else others

    def score(final: Array) -> Array:
        after = pool(final, untouched.padding)
        change = compare_vectors(np.broadcast_to(before, after.shape), after)
        return np.column_stack([change.relative, cosines(after, compared)])

    return score


def score_similarity(untouched: Run) -> Score:
    """Score by the cosine of the sentence's vector and the untouched one: (N, 1)."""
    before = sentence_vector(untouched)[None]
    return lambda final: cosines(pool(final, untouched.padding), before)


def score_nearness(untouched: Run, source: Run) -> Score:
    """Score by 1 − ‖variant − source‖ / ‖sentence − source‖, of sentence vectors: (N, 1).

    1: the source's vector; 0: as far from it as before; NaN if the two sentences have the same vector.
    """
    start, goal = (sentence_vector(run) for run in (untouched, source))
    distance = float(l2(goal - start))

    def score(final: Array) -> Array:
        left = l2(pool(final, untouched.padding) - goal)[:, None]
        nearer: Array = 1 - left / distance if distance else np.full_like(left, np.nan)
        return nearer

    return score


def cosines(vectors: Array, others: Array) -> Array:
    """Return the cosine of each vector with each other one: (N, D), (S, D) → (N, S)."""
    shape = (len(vectors), *others.shape)
    return compare_vectors(np.broadcast_to(vectors[:, None], shape), np.broadcast_to(others, shape)).cosine


def list_heads(config: ModelConfig) -> list[Change]:
    """Set every head to zero, one at a time, layer by layer."""
    return [Change("zero", layer, head) for layer in range(config.n_layers) for head in range(config.n_heads)]


def list_sublayers(config: ModelConfig) -> list[Change]:
    """Switch every sublayer off, one at a time, layer by layer."""
    return [Change("off", layer, None, (sublayer,)) for layer in range(config.n_layers) for sublayer in SUBLAYERS]


def list_pairs(run: Run, layer: int) -> list[tuple[int, int]]:
    """Return each query with each key that it may attend to in a layer, if it has another one left."""
    allowed = run.allowed_in(layer) & ~run.padding[:, None]
    return [(int(query), int(key)) for query, key in np.argwhere(allowed & (allowed.sum(axis=1) > 1)[:, None])]


def list_cuts(run: Run, layer: int, head: int) -> list[Change]:
    """Cut every pair of `list_pairs` before the softmax in one head."""
    return [Change("weight", layer, head, (query, key, 0.0)) for query, key in list_pairs(run, layer)]


def list_hidden(run: Run) -> list[Variant]:
    """Hide each token from a layer's others, layer by layer."""
    readers = run.allowed & ~run.padding[:, None] & ~np.eye(len(run.tokens), dtype=bool)
    can_be_seen: list[bool] = np.logical_or.reduce(readers[:, ~run.padding]).tolist()
    return [
        [Change("hide", layer, None, (key,))] * is_seen
        for layer in range(run.config.n_layers)
        for key, is_seen in enumerate(can_be_seen)
    ]


def list_patches(n_layers: int, n_tokens: int, source: int) -> list[Change]:
    """Patch each token's vector of the residual stream from sentence `source`, depth by depth."""
    tokens = range(n_tokens)
    places = [Change("patch", None, None, ("embed", token, source)) for token in tokens]
    return places + [Change("patch", i, None, ("out", token, source)) for i in range(n_layers) for token in tokens]


def order_by_effect(effects: Array) -> Order:
    """Sort the heads of a map (L, H), the least effect first, NaN last."""
    return tuple(np.argsort(effects.ravel(), kind="stable").tolist())


def order_at_random(config: ModelConfig, seed: int) -> Order:
    """Draw an order of all heads from a seed, the same everywhere."""
    return tuple(torch.randperm(config.n_layers * config.n_heads, generator=generator(seed, "pruning")).tolist())


def pruned_sizes(config: ModelConfig) -> range:
    """Return how many heads a curve's points remove, from 0 up to all."""
    n_heads = config.n_layers * config.n_heads
    return range(0, n_heads + 1, -(-n_heads // MAX_SIZES))


def remove_heads(order: Order, n: int, config: ModelConfig) -> list[Change]:
    """Set the first n heads of an order to zero."""
    return [Change("zero", *divmod(number, config.n_heads)) for number in sorted(order[:n])]
