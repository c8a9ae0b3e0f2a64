"""Walks through small encoders, with all that an attribution is computed from."""

from typing import Any

from playground import Encoder, ModelConfig
from playground.analysis.attribution import ScoreSplit, head_maps, split_score
from playground.analysis.stream_sources import split_stream
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


MODERN: list[dict[str, Any]] = [
    {"positions": "rotary", "n_kv_heads": 2, "bias": False, "gated": True, "activation": "silu", "norm": "rms"},
    {
        "positions": "rotary",
        "qk_norm": True,
        "d_head": 6,
        "norm_placement": "pre",
        "first_norm": False,
        "final_norm": True,
    },
    {"positions": "alibi", "norm_placement": "both", "window": 4, "global_every": 2, "n_kv_heads": 1},
    {"positions": "relative", "relative_buckets": 8, "relative_distance": 5, "share_layers": True, "gated": True},
    {"positions": "learned", "position_offset": 2, "d_embedding": 6, "embedding_norm": True, "activation": "gelu-tanh"},
    {"positions": "none", "qk_norm": True, "d_head": 10, "window": 2, "bias": False, "d_embedding": 20},
]
"""Architectures in which every field that came after 2017 is used once at least."""
