"""Caches of what a cell's explanation is computed from."""

from playground.analysis.attribution import head_maps, stream_sources
from playground.analysis.attribution.cell import destination
from playground.analysis.attribution.head_maps import HeadMaps
from playground.analysis.attribution.stream_sources import StreamSplit
from playground.analysis.walkthrough import Walk
from playground.config import ModelConfig
from playground.web.session import caches
from playground.web.session.caches import TURNS, RunKey
from playground.web.session.weights_cache import cache_by_weights


@cache_by_weights(max_entries=6)
def split_stream(key: RunKey, layer: int) -> StreamSplit:
    """What each source adds to the vectors that a layer's attention reads; raises as `caches.run_sentence`."""
    run = caches.run_sentence(key)
    with TURNS.take():
        return stream_sources.split_stream(run, caches.encoder(key.weights, key.config, key.seed), layer)


def find_maps(key: RunKey, walk: Walk) -> HeadMaps:
    """The learned maps of a walk's head; raises as `caches.run_sentence`."""
    _, piece = destination(walk)
    return _cut_maps(key.weights, key.config, key.seed, walk.layer.layer, walk.head, piece)


@cache_by_weights(max_entries=48)
def _cut_maps(weights: str, config: ModelConfig, seed: int, layer: int, head: int, piece: int) -> HeadMaps:
    with TURNS.take():
        return head_maps.head_maps(caches.encoder(weights, config, seed), layer, head, piece)
