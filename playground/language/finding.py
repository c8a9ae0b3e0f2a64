"""A trained network of the small English, wherever it is: shipped with the package, stored here, or trained now."""

import logging

from playground.errors import WeightsError
from playground.language.family import is_shipped, load_shipped
from playground.language.network import EnglishNetwork, Spec
from playground.language.store import NetworkStore

logger = logging.getLogger(__name__)


def find_network(spec: Spec, store: NetworkStore) -> EnglishNetwork | None:
    """The shipped network of a spec, else the stored one, else None; a damaged shipped file is logged and left out."""
    if is_shipped(spec):
        try:
            return load_shipped(spec)
        except WeightsError as error:
            logger.warning("A shipped network is left out: %s", error)
    return store.find(spec)
