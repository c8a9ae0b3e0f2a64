"""What identifies the pair that the page shows, its run, and what its weights are called."""

from typing import NamedTuple

from playground.config import ModelConfig
from playground.runs.pair_run import PairRun
from playground.web.session import caches, trained_slot
from playground.web.session.caches import TextKey
from playground.web.session.trained_slot import find_translator
from playground.web.session.weights_cache import TRANSLATOR, WeightsId
from playground.web.shared import panels


class PairKey(NamedTuple):
    """The arguments of `pair_cache.run`. A fragment is handed these, and never the run itself."""

    source: TextKey
    sentence: int
    target: TextKey
    line: int
    weights: WeightsId
    config: ModelConfig
    seed: int

    @property
    def is_example(self) -> bool:
        """Whether it is of the trained example, and not of the visitor's text."""
        return self.weights == TRANSLATOR

    def parameter(self, name: str) -> str:
        """The key of one of the page's widgets: example and own text each have their own."""
        return f"encdec_example_{name}" if self.is_example else f"encdec_{name}"


def load_run(pair: PairKey) -> PairRun:
    """The run of a pair, from the cache where it is there; ends the page where it cannot be computed."""
    with panels.explain_errors():
        return caches.compute_pair(*pair)


def label_weights(pair: PairKey) -> str:
    """What the pair's weights are called on the page."""
    if pair.is_example:
        return f"trained example, {find_translator().results.kept_step:,} steps"
    return trained_slot.weights_label(pair.weights) or ":orange-badge[untrained: random weights]"
