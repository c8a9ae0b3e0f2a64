"""Numbers that grow while somebody looks: a sentence in hundreds of variants, or a network on its validation set.

They are kept for everybody, and shown with a bar and its button.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from time import monotonic
from typing import NamedTuple

import numpy as np
import streamlit as st

from playground.accounting.readable import duration
from playground.analysis import sweeps
from playground.analysis.sweeps import Order, Score
from playground.config import ModelConfig
from playground.errors import TooLargeError
from playground.link.lab import Lab, once
from playground.model.changes import Change
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.runs.variant_runs import Variant, rows_at_once
from playground.training.answers import first_sequences, score_changed
from playground.training.tasks import Examples
from playground.views.what_if.followed import pool_sentence
from playground.web.components.without_picture import ask_again
from playground.web.session import answers, trained_slot
from playground.web.session.experiments import validation_data
from playground.web.session.services import services
from playground.web.shared import panels
from playground.words import say

Rows = tuple[int, ...]
"""Numbers of the variants that are measured together."""

MOST_TOGETHER = 24
"""Rows that are measured together, at most: others wait no longer for a turn than that takes."""

BY_ITSELF = 5.0
"""Seconds that a measurement may take and begin without being asked."""

SLICE = 0.4
"""Seconds of computing in one rerun of the page; between two of them it answers the visitor."""

MAX_PASSES = 4_096
"""Of all variants of one measurement, each counted from its first changed layer."""

RANDOM_SEEDS = (0, 1, 2)
"""Of the random orders in which heads are taken out."""

_ASKED = "_what_if_asked"
"""Session key of the last presses: from a measurement's name to its numbers, and whether it is to run."""


class SweepKey(NamedTuple):
    """What is measured of a sentence that nothing changes."""

    kind: str
    """As `whatif_parts`, or `patches`."""
    layer: int = 0
    """Of the head whose pairs are cut."""
    head: int = 0
    source: int = 0
    """The sentence that patches are taken from."""
    order: Order = ()
    """In which heads are taken out, beside random ones."""


@dataclass(eq=False)
class Growing:
    """A table, (rows, columns), NaN where it is not measured yet; it lies in a cache, and sessions fill it together."""

    numbers: Array
    parts: Sequence[Rows]
    """The rows that are measured together, in the order of their measurement."""
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
    def n_measured(self) -> int:
        """Rows that are measured."""
        return sum(map(len, self.parts[: self.n_done]))

    @property
    def seconds_left(self) -> float:
        """What the rest will take, by what the parts before it took; infinite before the first."""
        if self.is_complete:
            return 0.0
        n = self.n_measured
        return self.seconds / n * (len(self.numbers) - n) if n else float("inf")

    def advance(self, measure: Callable[[Rows], Array], seconds: float) -> None:
        """Measure the next part, and further ones until so many seconds have passed; nothing where somebody else does.

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


def empty_numbers(parts: Sequence[Rows], n_columns: int) -> Growing:
    """Return a table of which nothing is measured; its parts hold every row once."""
    return Growing(np.full((sum(map(len, parts)), n_columns), np.nan, np.float32), tuple(parts))


def cut(rows: Sequence[int], most: int) -> list[Rows]:
    """Return rows in their order, at most so many together, and at most `MOST_TOGETHER`."""
    most = min(most, MOST_TOGETHER)
    return [tuple(rows[first : first + most]) for first in range(0, len(rows), most)]


def list_variants(sweep: SweepKey, run: Run) -> Sequence[Variant]:
    """Return what each row of a sweep changes; of heads taken out: the sizes of its order, then of random ones."""
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
    return _list_removals(sweep.order, config)


def _list_removals(order: Order, config: ModelConfig) -> Sequence[Variant]:
    orders = [order, *(sweeps.order_at_random(config, seed) for seed in RANDOM_SEEDS)]
    return [sweeps.remove_heads(each, n, config) for each in orders for n in sweeps.pruned_sizes(config)]


@once
def text_vectors(lab: Lab) -> Array:
    """Return the vector of every sentence of the text, (S, D)."""
    return np.stack([pool_sentence(lab, i, "mean") for i in range(len(lab.text.sentences))])


@once
def sweep_numbers(lab: Lab, sweep: SweepKey) -> Growing:
    """Return the numbers of a sweep over a lab's run, a row a variant.

    Columns: of parts, the relative change of the sentence's vector, its cosines with the text's sentences, and the
    probability of the hidden word, if there is one; of patches, how much nearer; of heads taken out, the cosine.

    Raises:
        TooLargeError: the variants are too many to be measured; and as `Lab.run`.
    """
    run, n_layers = lab.run, lab.config.n_layers
    starts = [min((each.first_layer for each in made), default=0) for made in list_variants(sweep, run)]
    together = ([row for row, start in enumerate(starts) if start == layer] for layer in sorted(set(starts)))
    parts = [part for rows in together for part in cut(rows, rows_at_once(lab.config, len(run.tokens)))]
    if sum(n_layers - max(0, start) for start in starts) > MAX_PASSES * n_layers:
        raise TooLargeError(say("what_if", "too-many", runs=len(starts)))
    n_columns = 1 + len(lab.text.sentences) + (answers.hidden_word(lab.run_key) is not None)
    return empty_numbers(parts, 1 if sweep.kind in ("patches", "heads taken out") else n_columns)


def measure_rows(lab: Lab, sweep: SweepKey, rows: Rows) -> Array:
    """Return some rows of `sweep_numbers`."""
    run = lab.run
    variants, score = list_variants(sweep, run), _choose_score(lab, sweep, run)
    sources = {sweep.source: lab.run_of(sweep.source).arrays} if sweep.kind == "patches" else None
    with lab.source.turn():
        return sweeps.measure_variants(
            [variants[row] for row in rows],
            score,
            lab.encoder,
            lab.batch,
            run,
            sentence=lab.sentence,
            seed=lab["seed"],
            causal=lab["causal"],
            sources=sources,
        )


def _choose_score(lab: Lab, sweep: SweepKey, run: Run) -> Score:
    if sweep.kind == "patches":
        return sweeps.score_nearness(run, lab.run_of(sweep.source))
    if sweep.kind == "heads taken out":
        return sweeps.score_similarity(run)
    score = sweeps.score_change(run, text_vectors(lab))
    if answers.hidden_word(lab.run_key) is None:
        return score
    return lambda final: np.column_stack([score(final), answers.score_hidden(lab.run_key, final)])


@once
def task_numbers(lab: Lab, sweep: SweepKey) -> Growing:
    """Return the scores of a network trained here without parts: accuracy, probability; the first row is all of it."""
    return empty_numbers([(row,) for row in range(1 + len(list_variants(sweep, lab.run)))], 2)


def measure_task(lab: Lab, sweep: SweepKey, rows: Rows) -> Array:
    """Return some rows of `task_numbers`."""
    variants = [(), *list_variants(sweep, lab.run)]
    return score_network(lab, [variants[row] for row in rows])


@once
def score_changes(lab: Lab) -> Array:
    """Return the network's scores without and with the lab's changes, (2, 2)."""
    return score_network(lab, [(), lab.fitted_changes.applied])


def score_network(lab: Lab, variants: Sequence[Sequence[Change]]) -> Array:
    """Return accuracy and probability of the right answer, with each of these changes; raises as `find_network`."""
    recipe, examples = trained_slot.find_network(lab.weights).recipe, validation_sequences(lab)
    with lab.source.turn():
        network = trained_slot.network_on_device(lab.weights)
        scores = [score_changed(network, examples, recipe, services().device, each) for each in variants]
    return np.array([[score.accuracy, score.probability] for score in scores], np.float32)


def validation_sequences(lab: Lab) -> Examples:
    """Return the sequences that the network answers."""
    return first_sequences(validation_data(trained_slot.find_network(lab.weights).recipe).validation)


def measure(name: str, lab: Lab, sweep: SweepKey, *, on_answers: bool = False) -> Growing:
    """Measure for a moment, and draw how far it is, and what starts or stops it; the page asks again until all is done.

    Keys begin with `name`. Where the settings change, the numbers do, and the old measurement rests.
    """
    growing = (task_numbers if on_answers else sweep_numbers)(lab, sweep)
    compute = partial(measure_task if on_answers else measure_rows, lab, sweep)
    with panels.explain_errors():
        if growing.n_done == 0:
            growing.advance(compute, 0)  # which says how long the others will take
        asked, is_wanted = st.session_state.get(_ASKED, {}).get(name, (None, False))
        is_unknown = growing.n_done == 0  # somebody else measures the first part just now
        goes_on = is_wanted if asked is growing else is_unknown or growing.seconds_left <= BY_ITSELF
        if goes_on:
            growing.advance(compute, SLICE)
    stops = asked is growing and is_wanted and not growing.is_complete
    with st.container(key=f"{name}_progress", horizontal=True, vertical_alignment="center"):
        st.progress(growing.n_measured / max(1, len(growing.numbers)), _describe(growing))
        # A grey button is hidden by the style sheet.
        st.button(
            say("what_if", "measuring.stop") if stops else say("what_if", "measuring"),
            key=f"{name}_{'stop' if stops else 'measure'}",
            icon=":material/stop:" if stops else ":material/play_arrow:",
            on_click=_ask,
            args=[name, growing, not stops],
            disabled=not stops and (goes_on or growing.is_complete),
            width=120,
        )
        if goes_on and not growing.is_complete:
            ask_again(f"{name}_again")
    return growing


def _describe(growing: Growing) -> str:
    n, done = len(growing.numbers), growing.n_measured
    if growing.is_complete:
        return say("what_if", "tried", n=n)
    if not done:
        return say("what_if", "trying", n=n, done=0)
    return say("what_if", "trying.left", n=n, done=done, time=duration(growing.seconds_left))


def _ask(name: str, growing: Growing, is_wanted: bool) -> None:
    st.session_state[_ASKED] = {**st.session_state.get(_ASKED, {}), name: (growing, is_wanted)}
