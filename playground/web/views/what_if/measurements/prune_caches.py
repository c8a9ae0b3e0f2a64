"""What is left of sentences, or of a task, without ever more heads, measured some sets of heads at a time.

Legend: P sizes of a curve, S sentences of the text. The first order is by effect, the others are random.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from playground.analysis.part_importance import Order, measure_pruning, order_at_random, pruned_sizes, remove_heads
from playground.config import ModelConfig
from playground.model.interventions import ZeroHead
from playground.runs.arrays import Array
from playground.runs.variant_runs import rows_at_once
from playground.web.session import caches
from playground.web.session.caches import RunKey
from playground.web.session.services import services
from playground.web.session.weights_cache import cache_by_weights
from playground.web.views.what_if.measurements.growing_numbers import GrowingNumbers, Rows, cut, empty_numbers

RANDOM_SEEDS = (0, 1, 2)
"""Of the random orders."""


class PruneKey(NamedTuple):
    """What the curves depend on."""

    key: RunKey
    """Of the sentence by which heads are ordered, without changes."""
    order: Order
    """By effect."""


def list_removals(order: Order, config: ModelConfig) -> list[list[ZeroHead]]:
    """The heads that are out in each row: the sizes of the first order, then those of each random one."""
    orders = [order, *(order_at_random(config, seed) for seed in RANDOM_SEEDS)]
    return [remove_heads(each, n, config) for each in orders for n in pruned_sizes(config)]


def by_order(column: Array, config: ModelConfig) -> Array:
    """A column of either measurement as curves, (1 + random orders, P)."""
    return column.reshape(-1, len(pruned_sizes(config)))


@cache_by_weights
def left_of_sentences(key: RunKey, order: Order) -> GrowingNumbers:
    """A row a set of heads, a column a sentence: the cosine of its vector with the untouched one; raises as it runs."""
    n_sizes, config = len(pruned_sizes(key.config)), key.config
    n_sentences = len(key.text.sentences)
    most = max(1, rows_at_once(config, caches.tokenize(key.text).ids.shape[1]) // n_sentences)
    blocks = cut(range(n_sizes), most)
    n_orders = 1 + len(RANDOM_SEEDS)
    parts: list[Rows] = [tuple(which * n_sizes + i for i in block) for block in blocks for which in range(n_orders)]
    return empty_numbers(parts, [float(len(part)) for part in parts], n_sentences)


def measure_rows(key: PruneKey, removals: Sequence[Sequence[ZeroHead]], rows: Rows) -> Array:
    """Some rows of `left_of_sentences`; raises as `caches.run_sentence`."""
    batch, columns = caches.tokenize(key.key.text), []
    for sentence in range(len(key.key.text.sentences)):
        run = caches.run_sentence(key.key._replace(sentence=sentence))
        with services().turns.take():
            encoder = caches.encoder(key.key.weights, key.key.config, key.key.seed)
            chosen = [removals[row] for row in rows]
            how = {"seed": key.key.seed, "causal": key.key.causal}
            columns.append(measure_pruning(encoder, batch, sentence, run, chosen, **how))  # type: ignore[arg-type]
    return np.stack(columns, axis=1)
