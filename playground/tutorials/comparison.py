"""The five tutorials side by side: architectures, and what these compute with equal weights and words."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from playground.accounting import count_parameters
from playground.config import ACTIVATION_NAMES, ModelConfig
from playground.model import Encoder, Trace
from playground.presets import PRESETS
from playground.runs.arrays import Array
from playground.text.data import load_data
from playground.text.wording import write_number

_WORDS = load_data(__file__)

TITLES: dict[str, str] = _WORDS["titles"]
"""Their short titles, by letter."""

NAMES = {letter: f"tutorial-{letter.lower()}" for letter in TITLES}
"""Their presets, by letter."""

LONG_TITLES = {letter: PRESETS[preset].title.partition(": ")[2] for letter, preset in NAMES.items()}

SHORT_TITLES = {letter: f"{letter} · {title}" for letter, title in TITLES.items()}
"""What charts and sentences call them."""


_NORMS = {
    "layer": "a gain and a bias per feature; biased deviation",
    "scalar": "one gain, one bias; unbiased deviation",
}

_PROPERTIES: Mapping[str, Mapping[str, Callable[[ModelConfig], str]]] = {
    "the numbers": {
        "embedding": lambda c: f"lookup{' × √d_model' * c.scale_embeddings}" if c.vocab_size else "none: raw vectors",
        "positions": lambda c: c.positions.replace("-doubled", ", exponent doubled"),
        "norm placement": lambda c: f"{c.norm_placement}-norm",
        "norm": lambda c: _NORMS[c.norm],
        "eps of the norm": lambda c: (
            f"{write_number(c.norm_eps)}, added to the {'deviation' if c.norm == 'scalar' else 'variance'}"
        ),
        "norm after the last block": lambda c: "yes" if c.final_norm else "no",
        "initial weights": lambda c: (
            "as torch draws them" if c.initialisation == "torch" else "Xavier-uniform, small tables"
        ),
        "activation": lambda c: ACTIVATION_NAMES[c.activation],
        "merging heads": lambda c: "reshape alone" if c.head_merge == "reshape" else "transpose, then reshape",
    },
    "the weights' layout": {
        "Q, K, V projections": lambda c: "one fused, head by head" if c.fused_qkv else "three",
    },
    "the size": {
        "d_model, heads, layers, d_ff": lambda c: f"{c.d_model:,}, {c.n_heads}, {c.n_layers}, {c.d_ff:,}",
        "vocabulary": lambda c: f"{c.vocab_size:,}" if c.vocab_size else "–",
        "parameters": lambda c: f"{count_parameters(c).total:,}",
    },
}
"""The table's rows that a config's fields say, by what a difference changes."""

DEPARTURES = {(each["field"], each["value"]): (each["short"], each["sentence"]) for each in _WORDS["departures"]}
"""What the tutorials do otherwise than the paper, in few words and in a sentence."""

PROPERTIES_OF_FIELDS: dict[str, str] = {each["field"]: each["row"] for each in _WORDS["departures"]}
"""The table's rows about the fields of `DEPARTURES`."""


def name_value(field_name: str, config: ModelConfig) -> str:
    """Return a field's value as the table words it."""
    name = PROPERTIES_OF_FIELDS[field_name]
    return next(words[name](config) for words in _PROPERTIES.values() if name in words)


CHANGES = "a difference changes"

NOTES: Mapping[str, Mapping[str, str]] = _WORDS["notes"]
"""Notes on the table's cells, by row and letter."""


def read_properties() -> Mapping[str, Mapping[str, str]]:
    """Return the table's rows: cells by letter, and `CHANGES`."""
    configs = {letter: PRESETS[preset].config for letter, preset in NAMES.items()}
    read: dict[str, Mapping[str, str]] = {
        name: {letter: word(config) for letter, config in configs.items()} | {CHANGES: changes}
        for changes, words in _PROPERTIES.items()
        for name, word in words.items()
    }
    read.update(_WORDS["rows"])
    return read


def find_unusual(row: Mapping[str, str]) -> set[str]:
    """Return the letters whose cell is not the most common one; none in a tie."""
    counts = Counter(row[letter] for letter in NAMES).most_common()
    if len(counts) > 1 and counts[0][1] == counts[1][1]:
        return set()
    return {letter for letter in NAMES if row[letter] != counts[0][0]}


SIZES: dict[str, Any] = {"vocab_size": 5, "d_model": 16, "n_heads": 4, "n_layers": 2, "d_ff": 64, "max_len": 5}
"""Of the small models that are compared: tutorial B's width, tutorial A's five words."""

_SHARED = {*SIZES, "dropout", "initialisation"}
_VARIANTS = tuple(name for name in ModelConfig.__dataclass_fields__ if name not in _SHARED)

COMPARED_POINTS = ("attn.pattern", "attn.z", "attn.out", "resid_mid", "ffn.out", "resid_post", "out")
"""Of a block, in order: what means the same wherever the norms stand."""

APART = 1e-9
"""Smaller differences are rounding."""


def small_config(letter: str) -> ModelConfig:
    """Return a tutorial's variant in `SIZES`; all have a token table and positions."""
    config = replace(PRESETS[NAMES[letter]].config, **SIZES, initialisation="xavier")
    return replace(config, positions="sinusoidal") if config.positions == "none" else config


def build(config: ModelConfig, seed: int) -> Encoder:
    """Return an encoder in double precision; a seed gives all variants of a size the same linear maps."""
    return Encoder(config, seed).double()


@torch.inference_mode()
def trace_of(config: ModelConfig, seed: int) -> Trace:
    """Return every intermediate of one sentence of five different words."""
    trace = Trace()
    build(config, seed)(torch.arange(SIZES["vocab_size"])[None], trace=trace)
    return trace


@lru_cache(maxsize=4)
def trace_all(seed: int) -> Mapping[str, Trace]:
    """Return every intermediate of the same sentence in the five, by letter."""
    return {letter: trace_of(small_config(letter), seed) for letter in NAMES}


def point_names() -> list[str]:
    """Return the points at which two variants are compared, in the order of computation."""
    blocks = [f"layers.{i}.{point}" for i in range(SIZES["n_layers"]) for point in COMPARED_POINTS]
    return ["embed.out", *blocks, "final"]


def apart_by(one: Trace, other: Trace, point: str = "final") -> float:
    """Return the largest difference at one point."""
    return float((one[point] - other[point]).abs().max())


def matrix(traces: Mapping[str, Trace]) -> Array:
    """Return the largest difference of outputs between each two tutorials: (5, 5)."""
    return np.array([[apart_by(one, other) for other in traces.values()] for one in traces.values()], dtype=np.float32)


def by_point(traces: Mapping[str, Trace], against: str) -> dict[str, Array]:
    """Return the largest difference from one tutorial at each point: (points,) by letter."""
    return {
        letter: np.array([apart_by(trace, traces[against], point) for point in point_names()], dtype=np.float32)
        for letter, trace in traces.items()
        if letter != against
    }


def first_apart(differences: Array) -> str:
    """Return the first point at which two variants, (points,) apart, differ."""
    return next(name for name, difference in zip(point_names(), differences, strict=True) if difference > APART)


@dataclass(frozen=True)
class Cause:
    """A field of `ModelConfig` in which a tutorial differs from another, and its value."""

    letter: str
    field: str
    here: Any
    effect: float
    """The largest difference of outputs if the other one takes this value."""


@lru_cache(maxsize=20)
def causes(against: str, seed: int) -> list[Cause]:
    """Return the fields in which the other four differ from one, each tried alone."""
    base = small_config(against)
    result, before = [], trace_of(base, seed)
    for letter in NAMES:
        config = small_config(letter)
        for name in _VARIANTS:
            here = vars(config)[name]
            if here != vars(base)[name]:
                effect = apart_by(trace_of(replace(base, **{name: here}), seed), before)
                result.append(Cause(letter, name, here, effect))
    return result
