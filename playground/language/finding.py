"""A trained network of the small English: shipped, stored here, or trained now."""

import logging
from functools import partial

from playground.errors import WeightsError
from playground.language.family import is_shipped, load_shipped
from playground.language.learner import Learning, learn
from playground.language.network import EnglishNetwork, Spec, check_spec, load, save
from playground.weights.store import NetworkStore

logger = logging.getLogger(__name__)


def find_network(spec: Spec, store: NetworkStore) -> EnglishNetwork | None:
    """Return the shipped network of a spec, else the stored one, else None."""
    if is_shipped(spec):
        try:
            return load_shipped(spec)
        except WeightsError as error:
            logger.warning("A shipped network is left out: %s", error)
    return store.find(spec.key, partial(load, spec=spec))


def find_or_train(spec: Spec, store: NetworkStore) -> EnglishNetwork:
    """Return the network of a spec, trained and stored if there is none; raises as `check_spec`."""
    check_spec(spec)
    found = find_network(spec, store)
    if found is None:
        logger.info("An encoder of %s parameters learns the small English.", f"{spec.n_parameters:,}")
        found = learn(spec, _log_progress)
        store.keep(spec.key, save(found))
    return found


def _log_progress(state: Learning) -> None:
    """Log every tenth of the steps."""
    n = len(state.loss)
    if n % max(1, state.steps // 10) == 0:
        logger.info("%s of %s steps; the loss is %.2f.", n, state.steps, state.loss[-1])
