"""The five tutorials: their architectures side by side, what they teach, and their mistakes.

Demonstrations' inputs are small, and in double precision, so that rounding plays no part.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from playground.accounting import count_parameters
from playground.config import ACTIVATION_NAMES, ModelConfig
from playground.model import Encoder, Trace, causal_mask
from playground.model.norms import build_norm
from playground.model.positions import sinusoids, wavelengths
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

PAPER = "E"
"""The tutorial that computes the encoder of the paper (Vaswani et al. 2017)."""


# --- side by side

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
    """Return the letters whose cell is not the most common one."""
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


def small_config(letter: str) -> ModelConfig:
    """Return a tutorial's variant in `SIZES`; all have a token table and positions."""
    config = replace(PRESETS[NAMES[letter]].config, **SIZES, initialisation="xavier")
    return replace(config, positions="sinusoidal") if config.positions == "none" else config


@torch.inference_mode()
def trace_of(config: ModelConfig, seed: int) -> Trace:
    """Return every intermediate of five different words; a seed gives all variants the same linear maps."""
    trace = Trace()
    Encoder(config, seed).double()(torch.arange(SIZES["vocab_size"])[None], trace=trace)
    return trace


@lru_cache(maxsize=4)
def trace_all(seed: int) -> Mapping[str, Trace]:
    """Return every intermediate of the same sentence in the five, by letter."""
    return {letter: trace_of(small_config(letter), seed) for letter in NAMES}


def point_names() -> list[str]:
    """Return the compared points, in the order of computation."""
    blocks = [f"layers.{i}.{point}" for i in range(SIZES["n_layers"]) for point in COMPARED_POINTS]
    return ["embed.out", *blocks, "final"]


def apart_by(one: Tensor, other: Tensor) -> float:
    """Return the largest absolute difference of two tensors."""
    return float((one - other).abs().max())


def by_point(seed: int) -> dict[str, Array]:
    """Return each tutorial's largest difference from the paper's by point: (points,) by letter."""
    traces = trace_all(seed)
    return {
        letter: np.array([apart_by(trace[point], traces[PAPER][point]) for point in point_names()], dtype=np.float32)
        for letter, trace in traces.items()
        if letter != PAPER
    }


@lru_cache(maxsize=4)
def effects(seed: int) -> Mapping[tuple[str, str], float]:
    """Return how far outputs move if the paper takes a tutorial's value of one field, by letter and field."""
    base = small_config(PAPER)
    before, moved = trace_of(base, seed)["final"], {}
    for letter in NAMES:
        for name in _VARIANTS:
            here = getattr(small_config(letter), name)
            if here != getattr(base, name):
                moved[letter, name] = apart_by(trace_of(replace(base, **{name: here}), seed)["final"], before)
    return moved


# --- demonstrations

Numbers = tuple[float | str, ...]


def normal(*shape: int, seed: int = 0) -> Tensor:
    """Return standard normal numbers in double precision."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).double()


def small_encoder(**variant: Any) -> Encoder:
    """Return one block of width 16 with 4 heads and random weights, for raw vectors without positions."""
    config: dict[str, Any] = {"vocab_size": 0, "d_model": 16, "n_heads": 4, "n_layers": 1, "d_ff": 64}
    return Encoder(ModelConfig(**config | {"positions": "none"} | variant)).double().requires_grad_(False)


def plain_norm(config: ModelConfig) -> nn.Module:
    """Return the config's norm in double precision, with gain 1 and bias 0."""
    norm = build_norm(config).double().requires_grad_(False)
    norm.load_state_dict({name: torch.ones_like(t) * (name == "gain") for name, t in norm.state_dict().items()})
    return norm


def doubled_exponent() -> Numbers:
    """Count i twice in the exponent of the positions' frequencies."""
    lengths = [wavelengths(16, doubled=doubled)[:5].tolist() for doubled in (True, False)]
    doubled, standard = (", ".join(f"{length:,.1f}" for length in each) for each in lengths)
    return doubled, standard, apart_by(sinusoids(50, 16, doubled=True), sinusoids(50, 16))


def leaking_merge() -> Numbers:
    """Reshape heads (B, H, T, d_head) to (B, T, d_model) without transposing, and change the last of six tokens."""
    x, found = normal(1, 6, 16), []
    other = torch.cat([x[:, :-1], x[:, -1:] + 1], dim=1)
    for merge in ("reshape", "transpose"):
        encoder = small_encoder(head_merge=merge)
        moved = encoder.encode(other, causal_mask(6)) - encoder.encode(x, causal_mask(6))
        found.append(", ".join(map(str, torch.nonzero(moved.abs().amax(-1)[0] > 1e-6).flatten().tolist())))
    return tuple(found)


def mask_never_arrives() -> Numbers:
    """Leave out the mask between encoder and attention."""
    encoder, x = small_encoder(head_merge="reshape"), normal(1, 6, 16)
    return (apart_by(encoder.encode(x, causal_mask(6)), encoder.encode(x)),)


def post_norm_called_pre() -> Numbers:
    """Run the same weights both ways, and look at what the final norm still finds to do."""
    variant: dict[str, Any] = {"activation": "gelu", "final_norm": True}
    x, trace, encoder = normal(1, 6, 16), Trace(), small_encoder(**variant)
    post = encoder.encode(x, trace=trace)
    pre = small_encoder(**variant, norm_placement="pre").encode(x)
    moved = apart_by(trace["final"], trace["layers.0.out"])
    return apart_by(post, pre), write_number(moved, 2), write_number(encoder.config.norm_eps)


def pre_norm_called_post() -> Numbers:
    """Run tutorial A's encoder with the norms before each sublayer (its code) and after (its text)."""
    x, variant = normal(1, 6, 16), {"norm": "scalar", "final_norm": True}
    before, after = (small_encoder(**variant, norm_placement=place).encode(x) for place in ("pre", "post"))
    return (apart_by(before, after),)


def dropout_left_on() -> Numbers:
    """Send the same vectors twice through an encoder in training mode, and twice in evaluation mode."""
    encoder, x = small_encoder(dropout=0.1), normal(1, 6, 16)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        train = apart_by(encoder.train().encode(x), encoder.encode(x))
    return train, apart_by(encoder.eval().encode(x), encoder.encode(x))


def unrelated_tensors() -> Numbers:
    """Take queries and keys from one text, and from two."""
    x, other = normal(1, 1, 10, 16), normal(1, 1, 10, 16, seed=1)
    weights = [(x @ keys.transpose(-2, -1) / math.sqrt(16)).softmax(-1) for keys in (x, other)]
    return tuple(float(each[0, 0].diagonal().mean()) for each in weights)


def unbiased_deviation() -> Numbers:
    """Normalise 512 features, and take the deviation as torch's `std` does."""
    return float(plain_norm(ModelConfig(vocab_size=0))(normal(1, 512)).std()), math.sqrt(512 / 511)


def permuted_tokens() -> Numbers:
    """Put the tokens into another order, and compare outputs in place and token by token."""
    encoder, x, order = small_encoder(), normal(1, 6, 16), torch.tensor([3, 0, 5, 1, 4, 2])
    out, permuted = encoder.encode(x), encoder.encode(x[:, order])
    return apart_by(permuted, out), apart_by(permuted, out[:, order])


def scalar_norm() -> Numbers:
    """Normalise the same numbers by tutorial A's norm and by LayerNorm."""
    x = normal(10, 8)
    scalar, layer = (plain_norm(ModelConfig(vocab_size=0, d_model=8, norm=kind))(x) for kind in ("scalar", "layer"))
    return apart_by(scalar, layer), math.sqrt(7 / 8)


def queries_masked_for_keys() -> Numbers:
    """Mask a target's padding by rows and by columns."""
    real = torch.tensor([True, False, True, True])
    ahead = causal_mask(4)[0]
    by_rows, by_columns = ahead & real[:, None], ahead & real[None, :]
    weights = normal(4, 4).masked_fill(~by_rows, -1e9).softmax(-1)[1]
    shown = ", ".join(f"{weight:.2f}" for weight in weights)
    return shown, int(by_rows[real][:, 1].sum()), int(by_columns[real][:, 1].sum())


# --- what they teach and get wrong


@dataclass(frozen=True)
class Topic:
    """What a tutorial teaches, and the page that shows it."""

    text: str
    page: str
    target: str = ""
    """Key of the container to scroll to."""
    settings: Mapping[str, bool | int | str] = field(default_factory=dict)
    """Of the link, beside the preset's."""


@dataclass(frozen=True)
class Flaw:
    """What a tutorial gets wrong; its demonstration returns the numbers of the evidence."""

    where: str
    printed: str
    """What the tutorial says there."""
    happens: str = ""
    """What comes of it."""
    demonstration: Callable[[], Numbers] | None = None
    evidence: str = ""
    keys: Sequence[str] = ()
    """The same mistakes in the registry."""

    def demonstrate(self) -> str:
        """Return the computed evidence, if any."""
        return "" if self.demonstration is None else self.evidence.format(*self.demonstration())


@dataclass(frozen=True)
class Tutorial:
    """One of the five."""

    what: str
    topics: tuple[Topic, ...]
    flaws: tuple[Flaw, ...]


_DEMONSTRATIONS: Mapping[str | None, Callable[[], Numbers]] = {
    each.__name__: each
    for each in (
        doubled_exponent, dropout_left_on, leaking_merge, mask_never_arrives, permuted_tokens,
        post_norm_called_pre, pre_norm_called_post, queries_masked_for_keys, scalar_norm, unbiased_deviation,
        unrelated_tensors,
    )
}  # fmt: skip


def _read(what: str, topics: Sequence[Mapping[str, Any]], mistakes: Sequence[Mapping[str, Any]]) -> Tutorial:
    flaws = (Flaw(**{**each, "demonstration": _DEMONSTRATIONS.get(each.get("demonstration"))}) for each in mistakes)
    return Tutorial(what, tuple(Topic(**topic) for topic in topics), tuple(flaws))


TUTORIALS: Mapping[str, Tutorial] = {letter: _read(**texts) for letter, texts in _WORDS["tutorials"].items()}
"""By letter."""
