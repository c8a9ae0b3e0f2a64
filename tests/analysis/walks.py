"""Walks through small encoders, with all that an attribution is computed from."""

from typing import Any

from playground import Encoder, ModelConfig
from playground.analysis.attribution import ScoreSplit, head_maps, split_score
from playground.analysis.streams import split_stream
from playground.analysis.walkthrough import Walk
from playground.runs.encoder_run import run, trace_layer
from playground.text import characters
from tests.model.reference import scramble

TEXT = ["abcdef", "xyz"]
BATCH = characters().encode_batch(TEXT)


def small_encoder(**fields: Any) -> Encoder:
    """A scrambled encoder in double precision: a norm over few features enlarges rounding."""
    sizes = {"d_model": 16, "n_heads": 4, "n_layers": 3, "d_ff": 24, "max_len": 9}
    config = ModelConfig(**{"vocab_size": characters().vocab_size, **sizes, **fields})
    return scramble(Encoder(config, seed=1)).double()


def walk_through(
    encoder: Encoder, layer: int, head: int, query: int, key: int, *, sentence: int = 0, causal: bool = False
) -> Walk:
    """A walk through one layer of a sentence of `TEXT`."""
    return Walk(trace_layer(encoder, BATCH, sentence, layer, causal=causal), head, query, key)


def score_of(
    encoder: Encoder, walk: Walk, *, sentence: int = 0, causal: bool = False, opponent: int | None = None
) -> ScoreSplit:
    """The walk's score, split, against an opponent."""
    layer = walk.layer.layer
    stream = split_stream(run(encoder, BATCH, sentence, causal=causal), encoder, layer)
    return split_score(walk, stream, head_maps(encoder, layer, walk.head), opponent)
