"""The five tutorials side by side: their architectures, and what these give with equal weights and words.

The table is read from the presets wherever a field says it; the outputs say where two part, how far, and why.
"""

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
from playground.text.wording import write_number

NAMES = {"A": "tutorial-a", "B": "tutorial-b", "C": "tutorial-c", "D": "tutorial-d", "E": "tutorial-e"}
"""The tutorials' letters, and their presets."""

TITLES = {
    "A": "Implementing an Encoder",
    "B": "Encoder Block",
    "C": "Explanation",
    "D": "Notebook 05",
    "E": "From Scratch",
}
"""Their titles in short."""

LONG_TITLES = {letter: PRESETS[preset].title.partition(": ")[2] for letter, preset in NAMES.items()}
"""Their whole titles."""

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
        """The letters whose cell is not the most common one; none where no cell is more common than the others."""
        counts = Counter(self.cells.values()).most_common()
        if len(counts) > 1 and counts[0][1] == counts[1][1]:
            return set()
        return {letter for letter, cell in self.cells.items() if cell != counts[0][0]}


_NUMBERS, _LAYOUT, _TRAINING, _SIZE = "the numbers", "the weights' layout", "training only", "the size"

_PROPERTIES: dict[str, tuple[Callable[[ModelConfig], str], str]] = {
    "embedding": (
        lambda c: f"lookup{' × √d_model' if c.scale_embeddings else ''}" if c.vocab_size else "none: raw vectors",
        _NUMBERS,
    ),
    "positions": (lambda c: c.positions.replace("-doubled", ", exponent doubled"), _NUMBERS),
    "norm placement": (lambda c: f"{c.norm_placement}-norm", _NUMBERS),
    "norm": (
        lambda c: {
            "layer": "a gain and a bias per feature; biased deviation",
            "scalar": "one gain, one bias; unbiased deviation",
            "rms": "a gain per feature; root mean square",
            "none": "none",
        }[c.norm],
        _NUMBERS,
    ),
    "eps of the norm": (
        lambda c: f"{write_number(c.norm_eps)}, added to the {'deviation' if c.norm == 'scalar' else 'variance'}",
        _NUMBERS,
    ),
    "norm after the last block": (lambda c: "yes" if c.final_norm else "no", _NUMBERS),
    "initial weights": (
        lambda c: {"torch": "as torch draws them", "xavier": "Xavier-uniform, small tables"}[c.initialisation],
        _NUMBERS,
    ),
    "activation": (lambda c: ACTIVATION_NAMES[c.activation], _NUMBERS),
    "merging heads": (
        lambda c: {"transpose": "transpose, then reshape", "reshape": "reshape alone"}[c.head_merge],
        _NUMBERS,
    ),
    "Q, K, V projections": (lambda c: "one fused, head by head" if c.fused_qkv else "three", _LAYOUT),
    "d_model, heads, layers, d_ff": (
        lambda c: f"{c.d_model:,}, {c.n_heads}, {c.n_layers}, {c.d_ff:,}",
        _SIZE,
    ),
    "vocabulary": (lambda c: f"{c.vocab_size:,}" if c.vocab_size else "–", _SIZE),
    "parameters": (lambda c: f"{count_parameters(c).total:,}", _SIZE),
}

_NOTES = {
    "positions": {"C": "assumed already added"},
    "norm placement": {"D": "its text says pre-norm"},
    "d_model, heads, layers, d_ff": {"E": "left open; these are ours"},
    "vocabulary": {"E": "ours"},
    "parameters": {"E": "the encoder half"},
}

_ROWS_BY_HAND = (
    Row(
        "mask",
        {
            "A": "−1e9 filled in: padding",
            "B": "none",
            "C": "added to the scores: padding or later tokens, without numbers",
            "D": "−1e9 filled in; of what, it does not say",
            "E": "−1e9 filled in: padding",
        },
        "rows with every key masked",
        {"E": "in its decoder, what lies ahead too"},
    ),
    Row(
        "dropout",
        {
            "A": "after positions, on attention weights, inside the feed-forward, after each sublayer",
            "B": "none",
            "C": "inside the feed-forward, after each sublayer",
            "D": "after positions, on attention weights, inside the feed-forward, after each sublayer",
            "E": "after positions, twice; inside the feed-forward, after each sublayer",
        },
        _TRAINING,
        {"C": "its text says: on attention weights too"},
    ),
)
"""What no field of a config says."""


DEPARTURES = {
    ("norm_placement", "pre"): (
        "pre-norm",
        "a norm stands before attention and before the feed-forward network (pre-norm), not after them",
    ),
    ("norm", "scalar"): ("one gain, one bias", "a norm has one gain and one bias, not one of each for every feature"),
    ("norm_eps", 1e-6): (
        "eps of the norm",
        "eps, the small number that keeps a norm from dividing by 0, is 10⁻⁶; in the others it is 10⁻⁵",
    ),
    ("final_norm", True): ("norm after the last block", "a norm follows the last block"),
    ("positions", "sinusoidal-doubled"): ("doubled exponent", "the exponent of the positions counts twice"),
    ("head_merge", "reshape"): ("merge by reshape", "heads are merged by a reshape alone, without a transpose"),
    ("fused_qkv", True): ("fused Q, K, V", "one fused projection gives Q, K and V"),
    ("activation", "gelu"): ("GELU", "the activation is GELU, not ReLU"),
}
"""What the tutorials do otherwise than the paper, in few words and in a sentence, by field and value."""


PROPERTIES_OF_FIELDS = {
    "norm_placement": "norm placement",
    "norm": "norm",
    "norm_eps": "eps of the norm",
    "final_norm": "norm after the last block",
    "positions": "positions",
    "head_merge": "merging heads",
    "fused_qkv": "Q, K, V projections",
    "activation": "activation",
}
"""What the table calls a field of `ModelConfig`: of those that `DEPARTURES` has."""


def name_value(field_name: str, config: ModelConfig) -> str:
    """A config's value of one of `PROPERTIES_OF_FIELDS`, as the table words it."""
    return _PROPERTIES[PROPERTIES_OF_FIELDS[field_name]][0](config)


def build_table() -> list[Row]:
    """The properties of the five, from their presets where a field says it."""
    rows = []
    for name, (word, changes) in _PROPERTIES.items():
        cells = {letter: word(PRESETS[preset].config) for letter, preset in NAMES.items()}
        rows.append(Row(name, cells, changes, _NOTES.get(name, {})))
    return [*rows, *_ROWS_BY_HAND]


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
