"""A trained network of the small English, wherever it is: shipped with the package, stored here, or trained now."""

import logging
from functools import partial

from playground.errors import WeightsError
from playground.language.family import is_shipped, load_shipped
from playground.language.learner import Learning, learn
from playground.language.network import EnglishNetwork, Spec, check_spec, load, save
from playground.weights.store import NetworkStore

logger = logging.getLogger(__name__)


def find_network(spec: Spec, store: NetworkStore) -> EnglishNetwork | None:
    """The shipped network of a spec, else the stored one, else None; a damaged shipped file is logged and left out."""
    if is_shipped(spec):
        try:
            return load_shipped(spec)
        except WeightsError as error:
            logger.warning("A shipped network is left out: %s", error)
    return store.find(spec.key, partial(load, spec=spec))


def find_or_train(spec: Spec, store: NetworkStore) -> EnglishNetwork:
    """The network of a spec; one that is nowhere is trained here, which takes a minute or more, and stored.

    Raises:
        ConfigError, InputError: it can't be trained here, as `check_spec` says.
    """
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
