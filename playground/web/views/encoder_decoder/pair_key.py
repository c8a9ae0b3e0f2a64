"""The run of the pair that the page shows, the keys of its widgets, and what its weights are called."""

from playground.runs.pair_run import PairRun
from playground.web.session import caches, trained_slot
from playground.web.session.caches import PairKey, find_translator
from playground.web.shared import panels


def parameter_of(pair: PairKey, name: str) -> str:
    """The key of one of the page's widgets: example and own text each have their own."""
    return f"encdec_example_{name}" if pair.is_example else f"encdec_{name}"


def load_run(pair: PairKey) -> PairRun:
    """The run of a pair, from the cache where it is there; ends the page where it cannot be computed."""
    with panels.explain_errors():
        return caches.run_pair(pair)


def label_weights(pair: PairKey) -> str:
    """What the pair's weights are called on the page."""
    if pair.is_example:
        return f"trained example, {find_translator().results.kept_step:,} steps"
    return trained_slot.weights_label(pair.weights) or ":orange-badge[untrained: random weights]"
