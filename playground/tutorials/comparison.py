"""The five tutorials side by side: their architectures, and what these compute with equal weights and words."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch

from playground.accounting import count_parameters
from playground.config import ACTIVATION_NAMES, Initialisation, ModelConfig
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


@dataclass(frozen=True)
class Row:
    """One property of the five; cells, and notes on them, by letter."""

    name: str
    cells: Mapping[str, str]
    changes: str
    """What a difference changes: the numbers, the layout, the training or the size."""
    notes: Mapping[str, str] = field(default_factory=dict)

    def unusual(self) -> set[str]:
        """Return the letters whose cell is not the most common one; none if no cell is more common than the others."""
        counts = Counter(self.cells.values()).most_common()
        if len(counts) > 1 and counts[0][1] == counts[1][1]:
            return set()
        return {letter for letter, cell in self.cells.items() if cell != counts[0][0]}


_NORMS = {
    "layer": "a gain and a bias per feature; biased deviation",
    "scalar": "one gain, one bias; unbiased deviation",
    "rms": "a gain per feature; root mean square",
    "none": "none",
}

_PROPERTIES: dict[str, tuple[Callable[[ModelConfig], str], str]] = {
    "embedding": (
        lambda c: f"lookup{' × √d_model' if c.scale_embeddings else ''}" if c.vocab_size else "none: raw vectors",
        "the numbers",
    ),
    "positions": (lambda c: c.positions.replace("-doubled", ", exponent doubled"), "the numbers"),
    "norm placement": (lambda c: f"{c.norm_placement}-norm", "the numbers"),
    "norm": (lambda c: _NORMS[c.norm], "the numbers"),
    "eps of the norm": (
        lambda c: f"{write_number(c.norm_eps)}, added to the {'deviation' if c.norm == 'scalar' else 'variance'}",
        "the numbers",
    ),
    "norm after the last block": (lambda c: "yes" if c.final_norm else "no", "the numbers"),
    "initial weights": (
        lambda c: {"torch": "as torch draws them", "xavier": "Xavier-uniform, small tables"}[c.initialisation],
        "the numbers",
    ),
    "activation": (lambda c: ACTIVATION_NAMES[c.activation], "the numbers"),
    "merging heads": (
        lambda c: {"transpose": "transpose, then reshape", "reshape": "reshape alone"}[c.head_merge],
        "the numbers",
    ),
    "Q, K, V projections": (lambda c: "one fused, head by head" if c.fused_qkv else "three", "the weights' layout"),
    "d_model, heads, layers, d_ff": (lambda c: f"{c.d_model:,}, {c.n_heads}, {c.n_layers}, {c.d_ff:,}", "the size"),
    "vocabulary": (lambda c: f"{c.vocab_size:,}" if c.vocab_size else "–", "the size"),
    "parameters": (lambda c: f"{count_parameters(c).total:,}", "the size"),
}

DEPARTURES = {(each["field"], each["value"]): (each["short"], each["sentence"]) for each in _WORDS["departures"]}
"""What the tutorials do otherwise than the paper, in few words and in a sentence, by field and value."""

PROPERTIES_OF_FIELDS: dict[str, str] = {each["field"]: each["row"] for each in _WORDS["departures"]}
"""The table's rows about the fields of `DEPARTURES`."""


def name_value(field_name: str, config: ModelConfig) -> str:
    """Return a config's value of one of `PROPERTIES_OF_FIELDS`, as the table words it."""
    return _PROPERTIES[PROPERTIES_OF_FIELDS[field_name]][0](config)


def build_table() -> list[Row]:
    """Return the properties of the five, from their presets where a field says it."""
    configs = {letter: PRESETS[preset].config for letter, preset in NAMES.items()}
    read = [
        Row(name, {letter: word(config) for letter, config in configs.items()}, changes, _WORDS["notes"].get(name, {}))
        for name, (word, changes) in _PROPERTIES.items()
    ]
    return [*read, *(Row(**row) for row in _WORDS["rows"])]


SIZES: dict[str, Any] = {"vocab_size": 5, "d_model": 16, "n_heads": 4, "n_layers": 2, "d_ff": 64, "max_len": 5}
"""Of the small models that are compared: tutorial B's width, tutorial A's five words."""

_SHARED = {*SIZES, "dropout", "initialisation"}
_VARIANTS = tuple(name for name in ModelConfig.__dataclass_fields__ if name not in _SHARED)

COMPARED_POINTS = ("attn.pattern", "attn.z", "attn.out", "resid_mid", "ffn.out", "resid_post", "out")
"""Of a block, in order: what means the same wherever the norms stand."""

APART = 1e-9
"""The largest difference that counts as none; in double precision, equal formulas agree to about 1e-15."""


def small_config(letter: str) -> ModelConfig:
    """Return a tutorial's variant in `SIZES`; all have a token table and positions."""
    config = replace(PRESETS[NAMES[letter]].config, **SIZES, initialisation="xavier")
    return replace(config, positions="sinusoidal") if config.positions == "none" else config


def build(config: ModelConfig, seed: int) -> Encoder:
    """Return an encoder in double precision; equal seeds give all variants of a size the same linear maps."""
    return Encoder(config, seed).double()


@torch.inference_mode()
def trace_of(config: ModelConfig, seed: int) -> Trace:
    """Return every intermediate of one sentence of five different words."""
    trace = Trace()
    build(config, seed)(torch.arange(SIZES["vocab_size"])[None], trace=trace)
    return trace


@torch.inference_mode()
def position_share(initialisation: Initialisation, seed: int) -> float:
    """Return how long positions are beside tutorial A's tokens, before training: a ratio of mean L2 norms."""
    config = replace(PRESETS["tutorial-a"].config, vocab_size=100, n_layers=1, initialisation=initialisation)
    embeddings = Encoder(config, seed).embed
    tokens = embeddings(torch.arange(100)[None]) - embeddings.position_vectors(100)
    return float(embeddings.position_vectors(100).norm(dim=-1).mean() / tokens.norm(dim=-1).mean())


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
    """Return the largest difference from one tutorial at each point, by the others' letters: (points,) each."""
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
    """A field of `ModelConfig` in which a tutorial (`here`) differs from the one it is compared with (`there`)."""

    letter: str
    field: str
    here: Any
    there: Any
    effect: float
    """The largest difference of outputs when the latter takes this one value from the former."""


def causes(against: str, seed: int) -> list[Cause]:
    """Return the fields in which the other four differ from one, each tried alone."""
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
