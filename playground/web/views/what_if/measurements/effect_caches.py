"""What every part does to a sentence, measured some at a time. Legend: S sentences of the text, itself included."""

from typing import Literal, NamedTuple

import numpy as np

from playground.analysis.part_importance import list_heads, list_sublayers, measure_parts, measure_positions
from playground.analysis.vector_changes import sentence_vector
from playground.errors import TooLargeError
from playground.model.interventions import Intervention, SetWeight
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.runs.variant_runs import rows_at_once
from playground.web.session import caches
from playground.web.session.caches import RunKey
from playground.web.session.services import services
from playground.web.session.weights_cache import cache_by_weights
from playground.web.views.what_if.measurements.growing_numbers import GrowingNumbers, Rows, cut, empty_numbers

PartKind = Literal["heads", "sublayers", "pairs of one head", "hidden tokens"]

MAX_PASSES = 4_096
"""Of all variants of one measurement, each counted from its first changed layer."""


class PartsKey(NamedTuple):
    """What the effects of some parts depend on."""

    run: RunKey
    """Of the sentence, without changes."""
    kind: PartKind
    layer: int = 0
    """Of the head whose pairs are cut; 0 for the other kinds, which have every layer."""
    head: int = 0
    """Likewise."""


def part_effects(key: PartsKey) -> GrowingNumbers:
    """The effects of the parts, a row each; its first column is the relative change of the sentence's vector.

    The others are that vector's cosines with the untouched ones of the text's sentences, in their order.

    Raises:
        TooLargeError: they are too many to be measured; and as `caches.run_sentence`.
    """
    return _part_effects(key.run, key.kind, key.layer, key.head)


@cache_by_weights
def _part_effects(key: RunKey, kind: PartKind, layer: int, head: int) -> GrowingNumbers:
    run, config = caches.run_sentence(key), key.config
    most = rows_at_once(config, len(run.tokens))
    if kind == "pairs of one head":
        parts, layers = cut(range(len(list_pairs(run))), most), [layer] * len(list_pairs(run))
    else:
        width = {"heads": config.n_heads, "sublayers": 2, "hidden tokens": int((~run.padding).sum())}[kind]
        by_layer = [range(i * width, (i + 1) * width) for i in range(config.n_layers)]
        parts = [part for rows in by_layer for part in cut(rows, most)]
        layers = [i for i in range(config.n_layers) for _ in range(width)]
    work = [sum(config.n_layers - layers[row] for row in part) / config.n_layers for part in parts]
    if sum(work) > MAX_PASSES:
        raise TooLargeError(
            f"These are {len(layers):,} runs of the sentence, and {MAX_PASSES:,} whole ones are the most. A shorter "
            "sentence, or another map, would fit."
        )
    return empty_numbers(parts, work, 1 + len(key.text.sentences))


def measure_rows(key: PartsKey, rows: Rows) -> Array:
    """Some rows of `part_effects`; raises as `caches.run_sentence`."""
    run, others = caches.run_sentence(key.run), text_vectors(key.run._replace(sentence=0))
    batch = caches.tokenize(key.run.text)
    with services().turns.take():
        encoder = caches.encoder(key.run.weights, key.run.config, key.run.seed)
        if key.kind == "hidden tokens":
            layers, positions = np.divmod(rows, int((~run.padding).sum()))  # a part is of one layer
            relative, cosines = measure_positions(encoder, run, int(layers[0]), positions.tolist(), others)
            return np.column_stack([relative, cosines])
        parts = list_parts(key, run)
        steps = measure_parts(
            encoder, batch, key.run.sentence, run, [parts[row] for row in rows], causal=key.run.causal, others=others,
            seed=key.run.seed,
        )  # fmt: skip
        effects = [effect for step in steps for effect in step]  # in their order, as all begin in one layer
    return np.array([[effect.relative, *effect.similarities] for effect in effects], np.float32)


def list_parts(key: PartsKey, run: Run) -> list[Intervention]:
    """What each row of `part_effects` switches off; none for hidden tokens, which are many pairs each."""
    if key.kind == "heads":
        return [*list_heads(key.run.config)]
    if key.kind == "sublayers":
        return [*list_sublayers(key.run.config)]
    if key.kind == "hidden tokens":
        return []
    return [SetWeight(key.layer, key.head, query, other, 0.0) for query, other in list_pairs(run)]


def list_pairs(run: Run) -> list[tuple[int, int]]:
    """Each query with each key that it may attend to, where it has another one left: of every head the same."""
    allowed = run.allowed & ~run.padding[:, None]
    return [(int(query), int(key)) for query, key in np.argwhere(allowed & (allowed.sum(axis=1) > 1)[:, None])]


@cache_by_weights
def text_vectors(key: RunKey) -> Array:
    """The untouched vector of every sentence of a text, (S, D), whichever sentence the key has; raises as it runs."""
    sentences = range(len(key.text.sentences))
    return np.stack([sentence_vector(caches.compute_run(key._replace(sentence=i))) for i in sentences])
