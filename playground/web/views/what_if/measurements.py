"""What is measured on the page What if: sweeps over a sentence's run, and scores of a network that was trained here.

Numbers take long. They are measured some at a time by whoever looks, and kept for everybody, with a bar and its button.

Legend: S sentences of the text, P sizes of a curve.
"""

import threading
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from time import monotonic
from typing import Literal, NamedTuple

import numpy as np
import streamlit as st

from playground.accounting.readable import duration
from playground.analysis import sweeps
from playground.analysis.sentences import sentence_vector
from playground.analysis.sweeps import Order, Sweep
from playground.config import ModelConfig
from playground.errors import TooLargeError
from playground.language.text import IDS
from playground.link.state import RunKey
from playground.model.changes import Change
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.runs.variant_runs import Variant, rows_at_once
from playground.training.answers import first_sequences, score_changed
from playground.training.tasks import Examples
from playground.views.what_if.parts import Effects, PartKind
from playground.web.components.without_picture import ask_again
from playground.web.session import answers, caches, trained_slot
from playground.web.session.experiments import validation_data
from playground.web.session.services import services
from playground.web.session.weights_cache import cache_by_weights, cache_in_session
from playground.web.shared import panels

Rows = tuple[int, ...]
"""Numbers of the variants that are measured together."""

MOST_TOGETHER = 24
"""Rows that are measured together, at most: others wait no longer for a turn than that takes, and a batch of more is no
faster."""

BY_ITSELF = 5.0
"""Seconds that a measurement may take and begin without being asked."""

SLICE = 0.4
"""Seconds of computing in one rerun of the page; between two of them it answers the visitor."""

_ASKED = "_what_if_asked"
"""Session key of the last presses: from a measurement's name to all that it depends on, and whether it is to run."""

_WIDTH = 120

MAX_PASSES = 4_096
"""Of all variants of one measurement, each counted from its first changed layer."""

ACCURACY, PROBABILITY = 0, 1
"""The columns of the scores."""

RANDOM_SEEDS = (0, 1, 2)
"""Of the random orders in which heads are taken out."""


@dataclass(eq=False)
class GrowingNumbers:
    """A table, (rows, columns), NaN where it is not measured yet; it lies in a cache, and sessions fill it together.

    No session computes beyond what it shows: a part that one visitor has measured is there for the next, and where
    nobody looks, nothing goes on.
    """

    numbers: Array
    parts: Sequence[Rows]
    """The rows that are measured together, in the order of their measurement."""
    work: Sequence[float]
    """What each part costs, in any unit."""
    n_done: int = 0
    """Parts that are measured."""
    seconds: float = 0.0
    """What they took, waiting for a turn included."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def is_complete(self) -> bool:
        """Whether everything is measured."""
        return self.n_done == len(self.parts)

    @property
    def n_rows_measured(self) -> int:
        """Rows of the parts that are measured."""
        return sum(map(len, self.parts[: self.n_done]))

    @property
    def share(self) -> float:
        """How much of the work is done, 0 … 1."""
        return sum(self.work[: self.n_done]) / sum(self.work) if self.parts else 1.0

    @property
    def seconds_left(self) -> float:
        """What the rest will take, by what the parts before it took; infinite before the first."""
        if self.is_complete:
            return 0.0
        done = sum(self.work[: self.n_done])
        return self.seconds / done * sum(self.work[self.n_done :]) if done else float("inf")

    def advance(self, measure: Callable[[Rows], Array], seconds: float) -> None:
        """Measure the next part, and further ones until so many seconds have passed; nothing where somebody else does.

        Nobody waits for another's measurement: whoever comes meanwhile takes the numbers that are there.
        `measure` computes some rows, (rows, columns). Where it fails, what was measured before stays.
        """
        if not self.lock.acquire(blocking=False):
            return
        try:
            begin = monotonic()
            while not self.is_complete:
                rows, start = self.parts[self.n_done], monotonic()
                self.numbers[list(rows)] = measure(rows)
                self.n_done += 1
                self.seconds += monotonic() - start
                if monotonic() - begin >= seconds:
                    return
        finally:
            self.lock.release()


def empty_numbers(parts: Sequence[Rows], work: Sequence[float], n_columns: int) -> GrowingNumbers:
    """A table of which nothing is measured; its parts hold every row once."""
    n_rows = sum(map(len, parts))
    return GrowingNumbers(np.full((n_rows, n_columns), np.nan, np.float32), tuple(parts), tuple(work))


def cut(rows: Sequence[int], most: int) -> list[Rows]:
    """Rows in their order, at most so many together, and at most `MOST_TOGETHER`."""
    most = min(most, MOST_TOGETHER)
    return [tuple(rows[first : first + most]) for first in range(0, len(rows), most)]


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
    of the text's sentences, then, if a word is hidden, that word's probability; of patches, how much nearer; of
    pruning, a column a sentence, the cosine of its vector with the untouched one.

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
    n_answers = 1 if answers.hidden_word(key) else 0
    return empty_numbers(parts, work, 1 if sweep.kind == "patches" else 1 + n_sentences + n_answers)


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
    score = sweeps.score_change(run, text_vectors(key._replace(sentence=0)))
    if answers.hidden_word(key) is None:
        return Sweep(variants, score)
    return Sweep(variants, lambda final: np.column_stack([score(final), answers.score_hidden(key, final)]))


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
            return [[place] for place in sweeps.list_patches(config.n_layers, run.n_real, sweep.source)]
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
        scores = [score_changed(network, examples, trained.recipe, services().device, variants[row]) for row in rows]
    return np.array([[score.accuracy, score.probability] for score in scores], np.float32)


def validation_sequences(weights: str) -> Examples:
    """The sequences that the network answers; errors as in `measure_variants`."""
    return first_sequences(validation_data(trained_slot.find_network(weights).recipe).validation)


@dataclass(frozen=True)
class Measurement:
    """Numbers by now, and what measures more of them."""

    identity: Hashable
    """All that the measurement depends on."""
    growing: GrowingNumbers
    measure: Callable[[Rows], Array]
    """Computes some rows; may raise what `panels.explain_errors` explains."""


@dataclass(frozen=True)
class MeasuredParts(Measurement):
    """What is measured without each of some parts."""

    effects: Callable[[], Effects]
    """By now."""


def measure_sweep(key: RunKey, sweep: SweepKey) -> Measurement:
    """A sweep over the run of a sentence; raises as `sweep_numbers`."""
    return Measurement((key, sweep), sweep_numbers(key, sweep), partial(measure_rows, key, sweep))


def measure_network(weights: str, name: str, variants: Sequence[Sequence[Change]]) -> Measurement:
    """The scores of a network that was trained here, with each of these changes; `name` as of `task_scores`."""
    growing = task_scores(weights, name, len(variants))
    return Measurement((weights, name), growing, partial(measure_variants, weights, variants))


def measure_on_vector(key: RunKey, parts: SweepKey, instead_of: str = "") -> MeasuredParts:
    """The change of the sentence's vector, `instead_of` another measure; raises as `sweep_numbers`."""
    sweep = measure_sweep(key, parts)
    meaning = (
        "how far the sentence's vector moves, as a share of its length. The vector is the mean over the sentence's "
        "tokens"
    )

    def effects() -> Effects:
        said = "the sentence's vector moves by {} of its length"
        return Effects(sweep.growing.numbers[:, 0].copy(), meaning, said, ".1%", instead_of)

    return MeasuredParts(**vars(sweep), effects=effects)


def measure_on_similarity(key: RunKey, parts: SweepKey, other: int, run: Run) -> MeasuredParts:
    """The change of the cosine with another sentence's vector; raises as `sweep_numbers`."""
    sweep, vectors = measure_sweep(key, parts), text_vectors(key._replace(sentence=0))
    before = float(sweeps.cosines(sentence_vector(run)[None], vectors[other : other + 1])[0, 0])
    meaning = (
        f"what is added to the similarity of this sentence and sentence {other + 1}, the cosine of their "
        f"vectors, which is {before:.3f} with every part. Sentence {other + 1} itself keeps every part"
    )

    def effects() -> Effects:
        said = f"the similarity to sentence {other + 1} changes by {{}}"
        return Effects(sweep.growing.numbers[:, 1 + other] - np.float32(before), meaning, said, "+.4f")

    return MeasuredParts(**vars(sweep), effects=effects)


def measure_on_hidden_word(key: RunKey, parts: SweepKey, word: str) -> MeasuredParts:
    """The change of the probability of the word that is hidden; raises as `sweep_numbers`."""
    sweep, before = measure_sweep(key, parts), answers.fill_in(key)[-1, IDS[word]]
    meaning = f"what is added to the probability of *{word}*, the hidden word, which is {before:.2f} with every part"

    def effects() -> Effects:
        said = f"the probability of *{word}* changes by {{}}"
        return Effects(sweep.growing.numbers[:, -1] - before, meaning, said, "+.2f")

    return MeasuredParts(**vars(sweep), effects=effects)


def measure_on_answers(key: RunKey, kind: PartKind) -> MeasuredParts:
    """The change of the probability of the right answer, for heads or sublayers of a network trained here."""
    parts = sweeps.list_heads(key.config) if kind == "heads" else sweeps.list_sublayers(key.config)
    scores = measure_network(key.weights, kind, [[], *([part] for part in parts)])
    meaning = (
        "what is added to the probability of the right answer, a mean over all positions that are asked for in "
        f"{len(validation_sequences(key.weights)):,} validation sequences"
    )

    def effects() -> Effects:
        probabilities = scores.growing.numbers[:, PROBABILITY]
        said = "the probability of the right answer changes by {}"
        return Effects(probabilities[1:] - probabilities[0], meaning, said, "+.4f")

    return MeasuredParts(**vars(scores), effects=effects)


def keep_measuring(name: str, measurement: Measurement, *, tried: str, is_told: bool = False) -> None:
    """Measure for a moment, and draw how far it is and what starts or stops it; the page asks again until all is done.

    Called before what shows nothing but the numbers. Where the settings change, its identity does, and the old
    measurement rests. Keys begin with `name`; `tried` is what is tried, with its number, such as `72 heads`. With
    `is_told` the page itself tells how far it is, and nothing is drawn that needs no press.
    """
    growing, identity = measurement.growing, measurement.identity
    with panels.explain_errors():
        if growing.n_done == 0:
            growing.advance(measurement.measure, 0)  # which says how long the others will take
        asked, is_wanted = st.session_state.get(_ASKED, {}).get(name, (None, False))
        is_unknown = growing.n_done == 0  # somebody else measures the first part just now
        goes_on = is_wanted if asked == identity else is_unknown or growing.seconds_left <= BY_ITSELF
        is_asked = asked == identity and is_wanted
        if goes_on:
            growing.advance(measurement.measure, SLICE)
    if is_told and not is_asked and (goes_on or growing.is_complete):
        if not growing.is_complete:
            ask_again(f"{name}_again")
        return
    with st.container(key=f"{name}_progress", horizontal=True, vertical_alignment="center"):
        st.progress(growing.share, _describe(growing, tried, goes_on=goes_on))
        # A grey button is hidden by the style sheet.
        label, word = ("Stop", "stop") if is_asked and not growing.is_complete else ("Measure", "measure")
        st.button(
            label,
            key=f"{name}_{word}",
            icon=":material/stop:" if label == "Stop" else ":material/play_arrow:",
            on_click=_ask,
            args=[name, identity, label == "Measure"],
            disabled=label == "Measure" and (goes_on or growing.is_complete),
            width=_WIDTH,
        )
        if goes_on and not growing.is_complete:
            ask_again(f"{name}_again")


def _describe(growing: GrowingNumbers, tried: str, *, goes_on: bool) -> str:
    n = len(growing.numbers)
    if growing.is_complete:
        return f"Done: {tried} tried one by one."
    n_done = growing.n_rows_measured
    if not n_done:
        return f"0 of {n:,} variants of the run. The first ones will tell how long it takes."
    left = duration(growing.seconds_left)
    return (
        f"{n_done:,} of {n:,} variants of the run. The rest takes about {left}{'.' if goes_on else ': press Measure.'}"
    )


def _ask(name: str, identity: Hashable, is_wanted: bool) -> None:
    st.session_state[_ASKED] = {**st.session_state.get(_ASKED, {}), name: (identity, is_wanted)}
