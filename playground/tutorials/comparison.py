"""All five tutorials' variants with equal weights and words: where they part, how far, and why."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from playground.config import Initialisation, ModelConfig
from playground.model import Encoder, Trace
from playground.presets import PRESETS
from playground.runs.arrays import Array
from playground.tutorials.table import NAMES

SIZES: dict[str, Any] = {"vocab_size": 5, "d_model": 16, "n_heads": 4, "n_layers": 2, "d_ff": 64, "max_len": 5}
"""Of the small models that are compared: tutorial B's width, tutorial A's five words."""

_SHARED = {*SIZES, "dropout", "initialisation"}
_VARIANTS = tuple(name for name in ModelConfig.__dataclass_fields__ if name not in _SHARED)

COMPARED_POINTS = ("attn.pattern", "attn.z", "attn.out", "resid_mid", "ffn.out", "resid_post", "out")
"""Of a block, in order: what means the same wherever the norms stand."""

APART = 1e-9
"""The largest difference that still is none: in double precision, equal formulas are equal to about 1e-15."""


def small_config(letter: str) -> ModelConfig:
    """A tutorial's variant in `SIZES`, with the others' weights; all have a token table and positions."""
    config = replace(PRESETS[NAMES[letter]].config, **SIZES, initialisation="xavier")
    return replace(config, positions="sinusoidal") if config.positions == "none" else config


def build(config: ModelConfig, seed: int) -> Encoder:
    """An encoder in double precision; equal seeds give all variants of a size the same linear maps.

    Norms stand at gain 1 and bias 0 in every variant. A fused projection has the rows of the three, head by head.
    """
    return Encoder(config, seed).double()


@torch.inference_mode()
def trace_of(config: ModelConfig, seed: int) -> Trace:
    """Every intermediate of one sentence of five different words through one variant."""
    trace = Trace()
    build(config, seed)(torch.arange(SIZES["vocab_size"])[None], trace=trace)
    return trace


@torch.inference_mode()
def position_share(initialisation: Initialisation, seed: int) -> float:
    """How long positions are beside tutorial A's tokens, before training: a ratio of mean L2 norms."""
    config = replace(PRESETS["tutorial-a"].config, vocab_size=100, n_layers=1, initialisation=initialisation)
    embeddings = Encoder(config, seed).embed
    tokens = embeddings(torch.arange(100)[None]) - embeddings.position_vectors(100)
    return float(embeddings.position_vectors(100).norm(dim=-1).mean() / tokens.norm(dim=-1).mean())


def point_names() -> list[str]:
    """The points at which two variants are compared, in the order of computation."""
    blocks = [f"layers.{i}.{point}" for i in range(SIZES["n_layers"]) for point in COMPARED_POINTS]
    return ["embed.out", *blocks, "final"]


def apart_by(one: Trace, other: Trace, point: str = "final") -> float:
    """The largest difference at one point."""
    return float((one[point] - other[point]).abs().max())


def matrix(traces: Mapping[str, Trace]) -> Array:
    """The largest difference of outputs between each two tutorials: (5, 5)."""
    return np.array([[apart_by(one, other) for other in traces.values()] for one in traces.values()], dtype=np.float32)


def by_point(traces: Mapping[str, Trace], against: str) -> dict[str, Array]:
    """The largest difference from one tutorial at each point, by the other tutorials' letters: (points,) each."""
    return {
        letter: np.array([apart_by(trace, traces[against], point) for point in point_names()], dtype=np.float32)
        for letter, trace in traces.items()
        if letter != against
    }


def distances(traces: Mapping[str, Trace], against: str) -> dict[str, float]:
    """How far the outputs of the others are from one tutorial's, at most, by their letters."""
    return {letter: apart_by(trace, traces[against]) for letter, trace in traces.items() if letter != against}


def first_apart(differences: Array) -> str:
    """The name of the first point at which two variants, (points,) apart, do not agree any more."""
    return next(name for name, difference in zip(point_names(), differences, strict=True) if difference > APART)


@dataclass(frozen=True)
class Cause:
    """A field of `ModelConfig` in which a tutorial (`here`) is not like the one it is compared with (`there`).

    `effect` is the largest difference of outputs when the latter takes this one value from the former.
    """

    letter: str
    field: str
    here: Any
    there: Any
    effect: float


def causes(against: str, seed: int) -> list[Cause]:
    """Why the other four give other numbers than one: their fields, each tried alone."""
    base = small_config(against)
    result, before = [], trace_of(base, seed)
    for letter in NAMES:
        config = small_config(letter)
        for name in _VARIANTS:
            here, there = vars(config)[name], vars(base)[name]
            if here != there:
                effect = apart_by(trace_of(replace(base, **{name: here}), seed), before)
                result.append(Cause(letter, name, here, there, effect))
    return result
