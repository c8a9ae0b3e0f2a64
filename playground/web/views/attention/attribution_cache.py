"""Caches of what explains a cell, and of what heads are known for."""

from dataclasses import replace

from playground.analysis import attribution, stream_sources
from playground.analysis.attention import PROBES, Habits, measure_habits
from playground.analysis.attribution import HeadMaps, destination
from playground.analysis.stream_sources import StreamSplit
from playground.analysis.walkthrough import Walk
from playground.config import ModelConfig
from playground.errors import InputError
from playground.web.session import caches
from playground.web.session.caches import RunKey
from playground.web.session.services import services
from playground.web.session.weights_cache import WeightsId, cache_by_weights


@cache_by_weights
def split_stream(key: RunKey, layer: int) -> StreamSplit:
    """What each source adds to the vectors that a layer's attention reads; raises as `caches.run_sentence`."""
    run = caches.run_sentence(key)
    with services().turns.take():
        return stream_sources.split_stream(run, caches.encoder(key.weights, key.config, key.seed), layer)


def find_maps(key: RunKey, walk: Walk) -> HeadMaps:
    """The learned maps of a walk's head; raises as `caches.run_sentence`."""
    _, piece = destination(walk)
    return _cut_maps(key.weights, key.config, key.seed, walk.layer.layer, walk.head, piece)


@cache_by_weights
def habits_in_text(key: RunKey) -> Habits:
    """What heads do in one sentence; raises as `caches.run_sentence`."""
    return measure_habits([caches.run_sentence(key)])


@cache_by_weights
def habits_in_probes(key: RunKey) -> Habits:
    """What heads do in the fixed sentences, read as the key's text is.

    Raises:
        InputError: the encoder cannot read them; and as `caches.run_sentence`.
    """
    if key.text.tokenizer == "word" and key.config.vocab_size:
        raise InputError("The tokenizer word knows the words of your own text alone, and not the fixed sentences.")
    probes = key._replace(text=replace(key.text, sentences=PROBES), sentence=0, interventions=())
    batch = caches.tokenize(probes.text)
    unknown = [flag for sentence in batch.unknown for flag in sentence]
    if sum(unknown) > len(unknown) / 4:
        raise InputError("This tokenizer knows too few words of the fixed sentences; look at this text instead.")
    return measure_habits([caches.compute_run(probes._replace(sentence=i)) for i in range(len(PROBES))])


@cache_by_weights
def _cut_maps(weights: WeightsId, config: ModelConfig, seed: int, layer: int, head: int, piece: int) -> HeadMaps:
    with services().turns.take():
        return attribution.head_maps(caches.encoder(weights, config, seed), layer, head, piece)
