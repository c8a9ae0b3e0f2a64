"""One sentence in many variants, each scored by what leaves the encoder: what matters, where a difference sits.

Parts are switched off one at a time, as Michel et al. 2019 (section 3.2) do for heads. What one part alone does not
change, two together may: a small effect says that the model can do without this part while the others work, not that
the part does nothing. Vectors are patched from one sentence to another of as many tokens, known as causal tracing (Meng
et al. 2022, section 2.1), here without noise. Heads are taken out in an order (Michel et al. 2019, section 4.1): sorted
once by the effect that each has alone, the smallest first.

Legend: N variants, L layers, H heads, T tokens, D = d_model, S other sentences.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from playground.analysis.changes import compare_vectors
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
"""Numbers of some variants by the vectors that leave the encoder in them: (N, T, D) → (N, columns)."""

Order = tuple[int, ...]
"""Heads in the order of their removal, each counted through the layers: layer · n_heads + head."""

MAX_SIZES = 36
"""Steps of a pruning curve: with more heads, each step takes out several."""


@dataclass(frozen=True)
class Sweep:
    """Variants of one sentence's run, and the numbers that each is given."""

    variants: Sequence[Variant]
    score: Score
    sources: Sources | None = None
    """The runs that patches take vectors from, where they are at hand."""

    def measure(
        self,
        encoder: Encoder,
        batch: Batch,
        sentence: int,
        untouched: Run,
        *,
        rows: Sequence[int] | None = None,
        seed: int = 0,
        causal: bool = False,
    ) -> Array:
        """The numbers of some variants, (rows, columns), in the order of `rows`; of all of them by default.

        Args:
            untouched: the run of this sentence of the batch that nothing changes.
            seed: of the words' vectors, as in `encoder_run.run`; so is `causal`.

        Raises:
            InterventionError: a variant has a change that this sentence cannot have.
            TooLargeError: not even one variant fits the memory budget.
        """
        variants = [self.variants[row] for row in (range(len(self.variants)) if rows is None else rows)]
        steps = run_variants(
            encoder, batch, sentence, variants, seed=seed, causal=causal, sources=self.sources, untouched=untouched
        )
        scored = [(numbers, self.score(final)) for numbers, final in steps]
        order = np.argsort([number for numbers, _ in scored for number in numbers])
        measured: Array = np.concatenate([scores for _, scores in scored])[order]
        return measured


def score_change(untouched: Run, others: Array | None = None) -> Score:
    """The relative change of the sentence's vector, and that vector's cosines with others, (S, D): (N, 1 + S)."""
    before = sentence_vector(untouched)
    compared = np.zeros((0, before.size), np.float32) if others is None else others

    def score(final: Array) -> Array:
        after = pool(final, untouched.padding)
        change = compare_vectors(np.broadcast_to(before, after.shape), after)
        return np.column_stack([change.relative, cosines(after, compared)])

    return score


def score_similarity(untouched: Run) -> Score:
    """The cosine between the sentence's vector and the untouched one: (N, 1), 1 is no loss."""
    before = sentence_vector(untouched)[None]
    return lambda final: cosines(pool(final, untouched.padding), before)


def score_nearness(untouched: Run, source: Run) -> Score:
    """How much nearer a variant brings the sentence's vector to another's: (N, 1).

    1 − ‖variant − source‖ / ‖sentence − source‖. 1: it has the source's vector; 0: it is as far from it as before;
    below 0: farther, past it or off to a side. NaN where the two sentences have the same vector.
    """
    start, goal = (sentence_vector(run) for run in (untouched, source))
    distance = float(l2(goal - start))

    def score(final: Array) -> Array:
        left = l2(pool(final, untouched.padding) - goal)[:, None]
        nearer: Array = 1 - left / distance if distance else np.full_like(left, np.nan)
        return nearer

    return score


def cosines(vectors: Array, others: Array) -> Array:
    """Cosine of the angle between each vector and each other one: (N, D), (S, D) → (N, S), from -1 to 1."""
    shape = (len(vectors), *others.shape)
    return compare_vectors(np.broadcast_to(vectors[:, None], shape), np.broadcast_to(others, shape)).cosine


def list_heads(config: ModelConfig) -> list[Change]:
    """Every head of a model at zero, layer by layer."""
    return [Change("zero", layer, head) for layer in range(config.n_layers) for head in range(config.n_heads)]


def list_sublayers(config: ModelConfig) -> list[Change]:
    """Every sublayer of a model switched off, layer by layer, attention before feed-forward."""
    return [Change("off", layer, None, (sublayer,)) for layer in range(config.n_layers) for sublayer in SUBLAYERS]


def list_pairs(run: Run, layer: int) -> list[tuple[int, int]]:
    """Each query with each key that it may attend to in a layer, where it has another one left: of every head alike."""
    allowed = run.allowed_in(layer) & ~run.padding[:, None]
    return [(int(query), int(key)) for query, key in np.argwhere(allowed & (allowed.sum(axis=1) > 1)[:, None])]


def list_cuts(run: Run, layer: int, head: int) -> list[Change]:
    """Every pair of `list_pairs` cut before the softmax in one head."""
    return [Change("weight", layer, head, (query, key, 0.0)) for query, key in list_pairs(run, layer)]


def list_hidden(run: Run) -> list[Variant]:
    """Each token hidden from a layer's others, layer by layer; no change for one that no other may attend to anyway."""
    readers = run.allowed & ~run.padding[:, None] & ~np.eye(len(run.tokens), dtype=bool)
    can_be_seen: list[bool] = np.logical_or.reduce(readers[:, ~run.padding]).tolist()
    return [
        [Change("hide", layer, None, (key,))] * is_seen
        for layer in range(run.config.n_layers)
        for key, is_seen in enumerate(can_be_seen)
    ]


def list_patches(n_layers: int, n_tokens: int, source: int) -> list[Change]:
    """Each token's vector of the residual stream from sentence `source`, depth by depth, the embeddings first."""
    tokens = range(n_tokens)
    places = [Change("patch", None, None, ("embed", token, source)) for token in tokens]
    return places + [Change("patch", i, None, ("out", token, source)) for i in range(n_layers) for token in tokens]


def order_by_effect(effects: Array) -> Order:
    """The heads of a map (L, H), the least effect first, an unmeasured one last; of equal ones the earlier first."""
    return tuple(np.argsort(effects.ravel(), kind="stable").tolist())


def order_at_random(config: ModelConfig, seed: int) -> Order:
    """All heads in an order that is drawn from a seed, the same everywhere."""
    return tuple(torch.randperm(config.n_layers * config.n_heads, generator=generator(seed, "pruning")).tolist())


def pruned_sizes(config: ModelConfig) -> range:
    """How many heads a curve's points remove: from 0 to all, or the last whole step below."""
    n_heads = config.n_layers * config.n_heads
    return range(0, n_heads + 1, -(-n_heads // MAX_SIZES))


def remove_heads(order: Order, n: int, config: ModelConfig) -> list[Change]:
    """The first n heads of an order at zero, in the order of the model."""
    return [Change("zero", *divmod(number, config.n_heads)) for number in sorted(order[:n])]
