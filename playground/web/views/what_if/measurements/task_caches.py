"""What a network that was trained here gets right without some of its parts, measured some at a time."""

from collections.abc import Sequence

import numpy as np

from playground.model.changes import Change
from playground.runs.arrays import Array
from playground.training.after.answers import first_sequences, score_changed
from playground.training.tasks import Examples
from playground.web.session import caches, trained_slot
from playground.web.session.experiments import validation_data
from playground.web.session.services import services
from playground.web.session.weights_cache import cache_in_session
from playground.web.views.what_if.measurements.growing_numbers import GrowingNumbers, Rows, empty_numbers

ACCURACY, PROBABILITY = 0, 1
"""The columns of the scores."""


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
