"""What a file's names and shapes tell about its model, and what they leave open."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from playground.accounting import count_parameters
from playground.config import ModelConfig, nearest_divisors
from playground.errors import ConfigError, WeightsError
from playground.presets import PRESETS
from playground.weights.names import Shape, encoder_shapes, scheme_of, their_name
from playground.weights.schemes import SCHEMES

MAX_COMPUTED_POSITIONS = 5_000
"""Rows of a table of sines and cosines, which is computed anew: as many as the usual code makes."""

_USUAL = {name: PRESETS[name].config if name in PRESETS else ModelConfig(vocab_size=0) for name in SCHEMES}
_USUAL["bert"] = PRESETS["minilm-l6"].config

_OPEN = (
    "n_heads", "norm_placement", "norm_eps", "activation", "positions", "max_len", "scale_embeddings", "head_merge",
    "residual",
)  # fmt: skip
"""Fields that leave no trace in names and shapes, but for a table of positions."""


@dataclass(frozen=True)
class RecognisedWeights:
    """A file's naming scheme (a key of `SCHEMES`), and its encoder's settings by the fields of `ModelConfig`."""

    scheme: str
    settings: Mapping[str, Any]
    """What the shapes tell; `vocab_size` is 0 where the file has no token table."""
    open_settings: Mapping[str, Any]
    """What the shapes leave open, each with its usual value in this scheme."""
    tgt_vocab_size: int = 0
    """Words of the target language; 0 where there is no decoder."""

    def config(self, **answers: Any) -> ModelConfig:
        """The encoder's architecture: settings go before answers, answers before usual values; ConfigError if unfit."""
        return ModelConfig(**{**self.open_settings, **answers, **self.settings})


def recognise(header: Mapping[str, Shape]) -> RecognisedWeights:
    """Find the naming scheme of tensors, given as name → shape, and what they tell about the model.

    Every size comes from a tensor that is as large as it says, so that a small file can't ask for a large model.

    Raises:
        WeightsError: no scheme has these names, or the shapes describe no encoder.
    """
    scheme = scheme_of(header)
    shapes, n_layers = encoder_shapes(header, scheme)
    d_ff, d_model = _widths(shapes, scheme)
    settings: dict[str, Any] = {
        "vocab_size": _rows(shapes, "embed.tokens.weight", scheme, d_model),
        "d_model": d_model,
        "n_layers": n_layers,
        "d_ff": d_ff,
        "norm": _norm(shapes, scheme, d_model),
        "final_norm": "final_norm.gain" in shapes,
        "embedding_norm": "embed.norm.gain" in shapes,
        "n_segments": _rows(shapes, "embed.segments.weight", scheme, d_model),
        "fused_qkv": SCHEMES[scheme].head_by_head,
    }
    computed = SCHEMES[scheme].position_table
    if "embed.positions.weight" in shapes:
        settings |= {"positions": "learned", "max_len": _rows(shapes, "embed.positions.weight", scheme, d_model)}
    elif computed is not None and computed in header:
        settings["max_len"] = _computed_rows(computed, header[computed], d_model)
    usual = {field: getattr(_USUAL[scheme], field) for field in _OPEN if field not in settings}
    tgt_vocab_size = _target_words(header, scheme, d_model)
    try:
        ModelConfig(**usual | settings | {"n_heads": 1})
        if d_model % usual["n_heads"]:
            usual["n_heads"] = nearest_divisors(d_model, usual["n_heads"])[0]
        recognised = RecognisedWeights(scheme, settings, usual, tgt_vocab_size)
        needed, held = count_parameters(recognised.config()).total, sum(map(math.prod, header.values()))
    except ConfigError as error:
        raise WeightsError(f"These shapes describe no encoder: {error}") from error
    if needed > 2 * held:  # one that is missing will be named; where most are, building the rest is no use
        raise WeightsError(f"These shapes describe an encoder of {needed:,} parameters, and the file holds {held:,}.")
    return recognised


def _widths(shapes: Mapping[str, Shape], scheme: str) -> Shape:
    """d_ff and d_model."""
    name = their_name("layers.{i}.ffn.up.weight", scheme)
    shape = shapes.get("layers.{i}.ffn.up.weight")
    if shape is None:
        raise WeightsError(f"{name} is missing; its shape tells d_ff and d_model.")
    if len(shape) != 2:
        raise WeightsError(f"{name} has shape {shape}; a matrix is needed.")
    return shape


def _rows(shapes: Mapping[str, Shape], ours: str, scheme: str, d_model: int) -> int:
    """The rows of a table of vectors, 0 where there is none."""
    shape = shapes.get(ours, (0, d_model))
    if len(shape) != 2 or shape[1] != d_model:
        raise WeightsError(f"{their_name(ours, scheme)} has shape {shape}; the model needs (…, {d_model}).")
    return shape[0]


def _computed_rows(name: str, shape: Shape, d_model: int) -> int:
    """The rows of a table of sines and cosines, whichever axis they lie along."""
    rows = math.prod(shape[:-1])
    if shape[-1:] != (d_model,) or rows > MAX_COMPUTED_POSITIONS:
        raise WeightsError(
            f"{name} has shape {shape}; the model needs (…, {d_model}), at most {MAX_COMPUTED_POSITIONS:,} rows."
        )
    return rows


def _norm(shapes: Mapping[str, Shape], scheme: str, d_model: int) -> str:
    """The kind of norm; only our own models may have none, or one without a bias."""
    gain = shapes.get("layers.{i}.norm1.gain")
    if scheme.startswith("playground"):
        if gain is None:
            return "none"
        if "layers.{i}.norm1.bias" not in shapes:
            return "rms"
    return "scalar" if gain == (1,) and d_model > 1 else "layer"


def _target_words(header: Mapping[str, Shape], scheme: str, d_model: int) -> int:
    """The words that tutorial E's decoder chooses from."""
    if scheme != "tutorial-e":
        return 0
    shape = header.get("decoder_embedding.weight", ())
    if len(shape) != 2 or shape[0] < 1 or shape[1] != d_model:
        raise WeightsError(
            f"decoder_embedding.weight is missing or not (…, {d_model}); its shape tells the target's vocabulary."
        )
    return shape[0]
