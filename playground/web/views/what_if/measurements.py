"""What is measured on the page What if: sweeps over a sentence's run, and scores of a network that was trained here.

Legend: S sentences of the text, P sizes of a curve.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np

from playground.analysis.effects import sweeps
from playground.analysis.effects.sweeps import Order, Sweep
from playground.analysis.vector_changes import sentence_vector
from playground.config import ModelConfig
from playground.errors import TooLargeError
from playground.model.changes import Change
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.runs.variant_runs import Variant, rows_at_once
from playground.training.after.answers import first_sequences, score_changed
from playground.training.tasks import Examples
from playground.views.what_if.parts import Effects, PartKind
from playground.web.session import caches, trained_slot
from playground.web.session.caches import RunKey
from playground.web.session.experiments import validation_data
from playground.web.session.services import services
from playground.web.session.weights_cache import cache_by_weights, cache_in_session
from playground.web.views.what_if.measuring import GrowingNumbers, Rows, cut, empty_numbers

MAX_PASSES = 4_096
"""Of all variants of one measurement, each counted from its first changed layer."""

ACCURACY, PROBABILITY = 0, 1
"""The columns of the scores."""

RANDOM_SEEDS = (0, 1, 2)
"""Of the random orders in which heads are taken out."""


class SweepKey(NamedTuple):
    """What the numbers of a sweep depend on beside the run of the sentence."""

    kind: PartKind | Literal["patches", "pruning"]
    layer: int = 0
    """Of the head whose pairs are cut; 0 for the other kinds, which have every layer."""
    head: int = 0
    """The one whose pairs are cut; 0 for the other kinds."""
    source: int = 0
    """The sentence that patches are taken from, of as many tokens; 0 for the other kinds."""
    order: Order = ()
    """In which heads are taken out, beside random ones; empty for the other kinds."""


@cache_by_weights
def sweep_numbers(key: RunKey, sweep: SweepKey) -> GrowingNumbers:
    """The numbers of a sweep over the run of a sentence that nothing changes, a row a variant.

    Columns: of parts, the relative change of the sentence's vector, then that vector's cosines with the untouched ones
    of the text's sentences; of patches, how much nearer; of pruning, a column a sentence, the cosine of its vector with
    the untouched one.

    Raises:
        TooLargeError: the variants are too many to be measured; and as `caches.run_sentence`.
    """
    run, n_layers, n_sentences = caches.run_sentence(key), key.config.n_layers, len(key.text.sentences)
    variants, most = list_variants(sweep, run), rows_at_once(key.config, len(run.tokens))
    if sweep.kind == "pruning":
        n_sizes = len(sweeps.pruned_sizes(key.config))
        blocks = cut(range(n_sizes), max(1, most // n_sentences))
        orders = range(0, len(variants), n_sizes)
        parts: list[Rows] = [tuple(first + i for i in block) for block in blocks for first in orders]
        return empty_numbers(parts, [float(len(part)) for part in parts], n_sentences)
    starts = [min((change.first_layer for change in variant), default=0) for variant in variants]
    together = ([row for row, start in enumerate(starts) if start == layer] for layer in sorted(set(starts)))
    parts = [part for rows in together for part in cut(rows, most)]
    work = [sum(n_layers - max(0, starts[row]) for row in part) / n_layers for part in parts]
    if sum(work) > MAX_PASSES:
        raise TooLargeError(
            f"These are {len(variants):,} runs of the sentence, and {MAX_PASSES:,} whole ones are the most. A shorter "
            "sentence, fewer layers, or another map, would fit."
        )
    return empty_numbers(parts, work, 1 if sweep.kind == "patches" else 1 + n_sentences)


def measure_rows(key: RunKey, sweep: SweepKey, rows: Rows) -> Array:
    """Some rows of `sweep_numbers`; raises as `caches.run_sentence`."""
    batch = caches.tokenize(key.text)
    sentences = range(len(key.text.sentences)) if sweep.kind == "pruning" else [key.sentence]
    columns = []
    for sentence in sentences:
        run = caches.run_sentence(key._replace(sentence=sentence))
        made = _make_sweep(key, sweep, run)
        with services().turns.take():
            encoder = caches.encoder(key.weights, key.config, key.seed)
            columns.append(made.measure(encoder, batch, sentence, run, rows=rows, seed=key.seed, causal=key.causal))
    return np.concatenate(columns, axis=1)


def _make_sweep(key: RunKey, sweep: SweepKey, run: Run) -> Sweep:
    """The variants of one sentence's run, and their score."""
    variants = list_variants(sweep, run)
    if sweep.kind == "patches":
        source = caches.run_sentence(key._replace(sentence=sweep.source))
        return Sweep(variants, sweeps.score_nearness(run, source), {sweep.source: source.arrays})
    if sweep.kind == "pruning":
        return Sweep(variants, sweeps.score_similarity(run))
    return Sweep(variants, sweeps.score_change(run, text_vectors(key._replace(sentence=0))))


def list_variants(sweep: SweepKey, run: Run) -> Sequence[Variant]:
    """What each row of a sweep changes."""
    config = run.config
    match sweep.kind:
        case "heads":
            return [[part] for part in sweeps.list_heads(config)]
        case "sublayers":
            return [[part] for part in sweeps.list_sublayers(config)]
        case "pairs of one head":
            return [[part] for part in sweeps.list_cuts(run, sweep.layer, sweep.head)]
        case "hidden tokens":
            return sweeps.list_hidden(run)
        case "patches":
            n_tokens = int((~run.padding).sum())
            return [[place] for place in sweeps.list_patches(config.n_layers, n_tokens, sweep.source)]
        case "pruning":
            return list_removals(sweep.order, config)


@lru_cache(maxsize=4)
def list_removals(order: Order, config: ModelConfig) -> Sequence[Variant]:
    """The heads that are out: the sizes of the first order, then those of each random one."""
    orders = [order, *(sweeps.order_at_random(config, seed) for seed in RANDOM_SEEDS)]
    return [sweeps.remove_heads(each, n, config) for each in orders for n in sweeps.pruned_sizes(config)]


def by_order(column: Array, config: ModelConfig) -> Array:
    """A column of numbers of removals as curves, (1 + random orders, P)."""
    return column.reshape(-1, len(sweeps.pruned_sizes(config)))


@cache_by_weights
def text_vectors(key: RunKey) -> Array:
    """The untouched vector of every sentence of a text, (S, D), whichever sentence the key has; raises as it runs."""
    sentences = range(len(key.text.sentences))
    return np.stack([sentence_vector(caches.compute_run(key._replace(sentence=i))) for i in sentences])


@cache_in_session(max_entries=4)
def task_scores(weights: str, name: str, n_variants: int) -> GrowingNumbers:
    """A row a variant of the network: its accuracy, and the probability of the right answer.

    `name` tells measurements of one network apart.
    """
    return empty_numbers([(row,) for row in range(n_variants)], [1.0] * n_variants, 2)


@cache_in_session(max_entries=4)
def changed_scores(weights: str, changes: tuple[Change, ...]) -> Array:
    """The network's scores without and with changes, (2, 2); raises as `measure_variants`."""
    return measure_variants(weights, [(), changes], (0, 1))


def measure_variants(weights: str, variants: Sequence[Sequence[Change]], rows: Rows) -> Array:
    """Some rows of `task_scores`, by what is changed in each.

    Raises:
        UnavailableError: the network is of another session.
        BusyError: no turn came free.
    """
    trained, examples = trained_slot.find_network(weights), validation_sequences(weights)
    with services().turns.take():
        network = trained_slot.network_on_device(weights)
        scores = [score_changed(network, examples, trained.recipe, caches.device(), variants[row]) for row in rows]
    return np.array([[score.accuracy, score.probability] for score in scores], np.float32)


def validation_sequences(weights: str) -> Examples:
    """The sequences that the network answers; errors as in `measure_variants`."""
    return first_sequences(validation_data(trained_slot.find_network(weights).recipe).validation)


@dataclass(frozen=True)
class Measurement:
    """The effects of some parts, by now."""

    identity: Hashable
    """All that the measurement depends on."""
    growing: GrowingNumbers
    measure: Callable[[Rows], Array]
    effects: Callable[[], Effects]


def measure_on_vector(key: RunKey, parts: SweepKey, instead_of: str = "") -> Measurement:
    """The change of the sentence's vector, `instead_of` another measure; raises as `sweep_numbers`."""
    growing = sweep_numbers(key, parts)
    meaning = (
        "how far the sentence's vector moves, as a share of its length. The vector is the mean over the sentence's "
        "tokens"
    )

    def effects() -> Effects:
        return Effects(growing.numbers[:, 0].copy(), meaning, ".1%", instead_of)

    return Measurement((key, parts), growing, lambda rows: measure_rows(key, parts, rows), effects)


def measure_on_similarity(key: RunKey, parts: SweepKey, other: int, run: Run) -> Measurement:
    """The change of the cosine with another sentence's vector; raises as `sweep_numbers`."""
    growing = sweep_numbers(key, parts)
    vectors = text_vectors(key._replace(sentence=0))
    before = float(sweeps.cosines(sentence_vector(run)[None], vectors[other : other + 1])[0, 0])
    meaning = (
        f"what is added to the similarity of this sentence and sentence {other + 1}, the cosine of their "
        f"vectors, which is {before:.3f} with every part. Sentence {other + 1} itself keeps every part"
    )

    def effects() -> Effects:
        return Effects(growing.numbers[:, 1 + other] - np.float32(before), meaning, "+.4f")

    return Measurement((key, parts), growing, lambda rows: measure_rows(key, parts, rows), effects)


def measure_on_answers(key: RunKey, kind: PartKind) -> Measurement:
    """The change of the probability of the right answer, for heads or sublayers of a network trained here."""
    parts = sweeps.list_heads(key.config) if kind == "heads" else sweeps.list_sublayers(key.config)
    variants: list[list[Change]] = [[], *([part] for part in parts)]
    growing = task_scores(key.weights, kind, len(variants))
    meaning = (
        "what is added to the probability of the right answer, a mean over all positions that are asked for in "
        f"{len(validation_sequences(key.weights)):,} validation sequences"
    )

    def effects() -> Effects:
        scores = growing.numbers[:, PROBABILITY]
        return Effects(scores[1:] - scores[0], meaning, "+.4f")

    identity = (key.weights, kind)
    return Measurement(identity, growing, lambda rows: measure_variants(key.weights, variants, rows), effects)
