"""Caches of the position table's rows, and of what follows from exchanging two words."""

from playground.analysis import positions
from playground.config import ModelConfig
from playground.limits import MAX_TOKENS
from playground.runs.arrays import Array
from playground.runs.budget import check_budget
from playground.web.session import caches
from playground.web.session.caches import RunKey
from playground.web.session.services import services
from playground.web.session.weights_cache import WeightsId, cache_by_weights


@cache_by_weights
def position_rows(weights: WeightsId, config: ModelConfig, seed: int) -> Array:
    """The position table's first rows, for the longest sentence there may be, as `positions.first_rows` gives them."""
    check_budget(config, services().settings.max_parameters)
    with services().turns.take():
        return positions.first_rows(caches.encoder(weights, config, seed), MAX_TOKENS)


@cache_by_weights
def swap_words(key: RunKey, first: int, second: int) -> positions.Swap:
    """Exchange the tokens at two positions of a sentence, without the key's changes; raises as `run_sentence`."""
    with caches.turn_on_text(key) as (model, batch):
        return positions.swap_words(model, batch, key.sentence, first, second, seed=key.seed, causal=key.causal)
