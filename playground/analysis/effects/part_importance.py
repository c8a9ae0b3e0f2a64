"""Which parts matter: each is switched off alone, and the sentence's vector is set beside that of the untouched run.

As Michel et al. 2019 (section 3.2) do for heads. What one part alone does not change, two together may: a small effect
says that the model can do without this part while the others work, not that the part does nothing.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from playground.analysis.effects.sentence_vectors import Pooling, pool, sentence_vector
from playground.analysis.effects.vector_changes import compare_vectors
from playground.config import ModelConfig
from playground.model import Encoder
from playground.model.interventions import Intervention, SetWeight, SkipSublayer, Subject, ZeroHead
from playground.model.interventions.intervention_kinds import SUBLAYERS
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.runs.variant_runs import run_variants
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
