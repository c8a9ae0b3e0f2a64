"""Which parts of a model matter: heads, sublayers and tokens are taken away, and vectors patched.

Parts are switched off one by one, as Michel et al. 2019 (section 3.2) do with heads. What one part alone does not
change, two together may: a small effect says that the model can do without this part while the others work, not that
the part does nothing.

Patching is known as causal tracing (Meng et al. 2022, section 2.1), here without noise: both are sentences, of as
many tokens.

Heads are pruned as by Michel et al. 2019 (section 4.1): sorted once by the effect that each has alone, the smallest
first.

Legend: S sentences; L layers; T tokens, padding left out; P sizes, a number of removed heads each. A depth counts the
blocks passed: 0 is the embeddings, L the last block.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from playground.analysis.streams import l2
from playground.analysis.vector_changes import Pooling, compare_vectors, pool, sentence_vector
from playground.config import ModelConfig
from playground.model import Encoder
from playground.model.init import fill_uniform
from playground.model.interventions import Intervention, PatchVector, SetWeight, SkipSublayer, Subject, ZeroHead
from playground.model.interventions.intervention_kinds import SUBLAYERS
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.runs.variant_runs import run_hidden_positions, run_variants
from playground.text import Batch


@dataclass(frozen=True)
class PartEffect:
    """What the sentence's vector loses with one part."""

    part: Intervention
    cosine: float
    """Between the vector with the part and without it: 1 is no effect on its direction."""
    relative: float
    """The length of their difference, by the vector's length: 0 is no effect."""
    similarities: tuple[float, ...] = ()
    """Cosines between the vector without the part and those of other sentences, in their order."""


REPLACED_FROM = 2.0
"""How many times the sizes of its heads' single effects all of a layer's attention brings, where they replace each
other."""


@dataclass(frozen=True)
class HeadsTogether:
    """A layer's heads one by one, and all of its attention."""

    layer: int
    strongest: float
    """The effect of one of its heads alone that is largest by size."""
    together: float
    """The effect without all of the layer's attention."""
    replaced: bool
    """Whether that is more than single heads account for: where one is off, others do its work."""


def compare_together(heads: Array, attention: Array) -> HeadsTogether | None:
    """The layer without whose attention most is lost, beside the effects of its heads: (L, H), (L,).

    None where layers have one head each, or not all is measured or finite.
    """
    if heads.shape[1] < 2 or not (np.isfinite(heads).all() and np.isfinite(attention).all()):
        return None
    layer = int(np.abs(attention).argmax())
    alone, together = heads[layer], float(attention[layer])
    strongest = float(alone[np.abs(alone).argmax()])
    return HeadsTogether(layer, strongest, together, abs(together) > REPLACED_FROM * float(np.abs(alone).sum()))


def list_heads(config: ModelConfig) -> list[ZeroHead]:
    """Every head of a model at zero, layer by layer."""
    return [ZeroHead(layer, head) for layer in range(config.n_layers) for head in range(config.n_heads)]


def list_sublayers(config: ModelConfig) -> list[SkipSublayer]:
    """Every sublayer of a model switched off, layer by layer, attention before feed-forward."""
    return [SkipSublayer(layer, sublayer) for layer in range(config.n_layers) for sublayer in SUBLAYERS]


def list_edges(subject: Subject, layer: int, head: int) -> list[SetWeight]:
    """Every pair of tokens that one head may link cut before the softmax, query by query; a last key is left out."""
    tokens = range(subject.n_tokens)
    edges = [SetWeight(layer, head, query, key, 0.0) for query in tokens for key in tokens]
    return [edge for edge in edges if subject.split([edge])[0]]


def measure_parts(
    encoder: Encoder,
    batch: Batch,
    sentence: int,
    untouched: Run,
    parts: Sequence[Intervention],
    *,
    pooling: Pooling = "mean",
    seed: int = 0,
    causal: bool = False,
    others: Array | None = None,
) -> Iterator[list[PartEffect]]:
    """The effect of each part, some of them a step, in the order in which `run_variants` has them.

    Args:
        untouched: the run of this sentence that nothing changes.
        parts: each is an intervention on its own.
        others: vectors of other sentences, (S, D), that the sentence is compared with.
        seed: of the words' vectors, as in `encoder_run.run`; so is `causal`.

    Raises:
        InterventionError: a part cannot be switched off, as it is not there.
        TooLargeError: not even one variant fits the memory budget.
    """
    before, variants = sentence_vector(untouched, pooling), [[part] for part in parts]
    if others is None:
        others = np.zeros((0, before.size), np.float32)
    for step in run_variants(encoder, batch, sentence, variants, seed=seed, causal=causal, untouched=untouched):
        after = pool(step.final, untouched.padding, pooling)
        change, similarities = compare_vectors(np.broadcast_to(before, after.shape), after), cosines(after, others)
        yield [
            PartEffect(
                parts[number], float(change.cosine[i]), float(change.relative[i]), tuple(similarities[i].tolist())
            )
            for i, number in enumerate(step.numbers)
        ]


def cosines(vectors: Array, others: Array) -> Array:
    """Cosine of the angle between each vector and each other one: (N, D), (S, D) → (N, S), from -1 to 1."""
    shape = (len(vectors), *others.shape)
    return compare_vectors(np.broadcast_to(vectors[:, None], shape), np.broadcast_to(others, shape)).cosine


def map_heads(effects: Iterable[PartEffect], config: ModelConfig) -> Array:
    """The heads' relative effects by layer and head, (L, H); NaN where none is measured yet."""
    heads = np.full((config.n_layers, config.n_heads), np.nan, dtype=np.float32)
    for effect in effects:
        if isinstance(effect.part, ZeroHead) and effect.part.head is not None:
            heads[effect.part.layer, effect.part.head] = effect.relative
    return heads


def map_sublayers(effects: Iterable[PartEffect], config: ModelConfig) -> Array:
    """The sublayers' relative effects by layer, (L, 2), attention first; NaN where none is measured yet."""
    sublayers = np.full((config.n_layers, len(SUBLAYERS)), np.nan, dtype=np.float32)
    for effect in effects:
        if isinstance(effect.part, SkipSublayer):
            sublayers[effect.part.layer, SUBLAYERS.index(effect.part.sublayer)] = effect.relative
    return sublayers


def measure_positions(
    encoder: Encoder, untouched: Run, layer: int, positions: Sequence[int], others: Array, *, pooling: Pooling = "mean"
) -> tuple[Array, Array]:
    """What follows where no other token of a layer sees a position, in any head; as `PartEffect` has it.

    Args:
        encoder: the model of the run.
        untouched: the sentence's run that nothing changes.
        layer: in which the positions are hidden.
        positions: one at a time.
        others: vectors of other sentences, (S, D).

    Returns:
        The relative change of the sentence's vector, (positions,), and its cosines with the others, (positions, S).
    """
    before = sentence_vector(untouched, pooling)
    after = pool(run_hidden_positions(encoder, untouched, layer, positions), untouched.padding, pooling)
    return compare_vectors(np.broadcast_to(before, after.shape), after).relative, cosines(after, others)


def list_patches(n_layers: int, n_tokens: int, source: int) -> list[PatchVector]:
    """Each token's vector of the residual stream from sentence `source`, depth by depth."""
    places = [PatchVector(None, "embed", token, source) for token in range(n_tokens)]
    return places + [PatchVector(i, "out", token, source) for i in range(n_layers) for token in range(n_tokens)]


def measure_patches(
    encoder: Encoder,
    batch: Batch,
    sentence: int,
    source: int,
    runs: tuple[Run, Run],
    *,
    pooling: Pooling = "mean",
    seed: int = 0,
    causal: bool = False,
    places: Sequence[int] | None = None,
) -> Iterator[Array]:
    """How much nearer one patched vector brings a sentence's vector to the source's: (L + 1, T).

    1 − ‖patched − source‖ / ‖sentence − source‖. 1: the patched sentence has the source's vector; 0: it is as far from
    it as before; below 0: farther, past it or off to a side. NaN where it is not measured yet, or where the two
    sentences have the same vector. A new map comes with each batch of patches.

    Args:
        runs: the untouched ones of the sentence and of the source.
        seed: of the words' vectors, as in `encoder_run.run`; so is `causal`.
        places: which of `list_patches` to measure, by their numbers; all of them by default.

    Raises:
        InterventionError: the two sentences differ in length.
        TooLargeError: not even one patched run fits the memory budget.
    """
    padding, n_tokens = runs[0].padding, int((~runs[0].padding).sum())
    patches = list_patches(encoder.config.n_layers, n_tokens, source)
    start, goal = (sentence_vector(run, pooling) for run in runs)
    distance = float(l2(goal - start))
    shares = np.full(len(patches), np.nan, dtype=np.float32)
    wanted = np.arange(len(patches)) if places is None else np.array(places)
    variants = [[patches[place]] for place in wanted]
    sources = {source: runs[1].arrays}
    for step in run_variants(
        encoder, batch, sentence, variants, seed=seed, causal=causal, sources=sources, untouched=runs[0]
    ):
        left = l2(pool(step.final, padding, pooling) - goal)
        shares[wanted[list(step.numbers)]] = 1 - left / distance if distance else np.nan
        yield shares.reshape(-1, n_tokens).copy()


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
