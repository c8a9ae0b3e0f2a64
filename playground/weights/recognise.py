"""What a file's names and shapes tell about its model, what they leave open, and the encoder that it is of."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor

from playground.accounting import count_parameters
from playground.config import ModelConfig, nearest_divisors
from playground.errors import ConfigError, WeightsError
from playground.model import Encoder, EncoderDecoder
from playground.presets import PRESETS
from playground.weights.load import kind_of_positions, load_weights
from playground.weights.schemes import (
    SCHEMES,
    Names,
    Shape,
    encoder_prefix,
    encoder_shapes,
    names_of_file,
    respelled,
    scheme_of,
)

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
    given = respelled(header, SCHEMES[scheme])
    names = names_of_file(given, SCHEMES[scheme])
    shapes, n_layers = encoder_shapes(given, names)
    d_ff, d_model = _widths(shapes, names)
    settings: dict[str, Any] = {
        "vocab_size": _rows(shapes, "embed.tokens.weight", names, d_model),
        "d_model": d_model,
        "n_layers": n_layers,
        "d_ff": d_ff,
        "norm": _norm(shapes, scheme, d_model),
        "final_norm": "final_norm.gain" in shapes,
        "embedding_norm": "embed.norm.gain" in shapes,
        "n_segments": _rows(shapes, "embed.segments.weight", names, d_model),
        "fused_qkv": SCHEMES[scheme].head_by_head,
    }
    computed = SCHEMES[scheme].position_table
    if "embed.positions.weight" in shapes:
        settings |= {"positions": "learned", "max_len": _rows(shapes, "embed.positions.weight", names, d_model)}
    elif computed is not None and computed in given:
        settings["max_len"] = _computed_rows(computed, given[computed], d_model)
    usual = {field: vars(_USUAL[scheme])[field] for field in _OPEN if field not in settings}
    tgt_vocab_size = _target_words(given, names, d_model)
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


def recognise_tensors(tensors: Mapping[str, Tensor]) -> RecognisedWeights:
    """As `recognise`, and a position table's numbers tell whether they were computed or trained; raises as `recognise`.

    Only a trained table settles how positions are told: a computed one may be left out, to see what it does.
    """
    recognised = recognise({name: tuple(tensor.shape) for name, tensor in tensors.items()})
    name = SCHEMES[recognised.scheme].position_table
    if name is None or name not in tensors:
        return recognised
    kind = kind_of_positions(tensors[name].float().reshape(-1, recognised.settings["d_model"]))
    if kind != "learned":
        return replace(recognised, open_settings={**recognised.open_settings, "positions": kind})
    usual = {key: value for key, value in recognised.open_settings.items() if key != "positions"}
    return replace(recognised, settings={**recognised.settings, "positions": kind}, open_settings=usual)


def _their_name(ours: str, names: Names) -> str:
    """A file's name for an encoder's tensor, in the first layer where there are layers."""
    prefix = encoder_prefix(names)
    theirs = names.get(f"{prefix}{ours}") or names[f"{prefix}{ours.format(i=0)}"]
    return theirs[0].format(i=0)


def _widths(shapes: Mapping[str, Shape], names: Names) -> Shape:
    """d_ff and d_model."""
    name = _their_name("layers.{i}.ffn.up.weight", names)
    shape = shapes.get("layers.{i}.ffn.up.weight")
    if shape is None:
        raise WeightsError(f"{name} is missing; its shape tells d_ff and d_model.")
    if len(shape) != 2:
        raise WeightsError(f"{name} has shape {shape}; a matrix is needed.")
    return shape


def _rows(shapes: Mapping[str, Shape], ours: str, names: Names, d_model: int) -> int:
    """The rows of a table of vectors, 0 where there is none."""
    shape = shapes.get(ours, (0, d_model))
    if len(shape) != 2 or shape[1] != d_model:
        raise WeightsError(f"{_their_name(ours, names)} has shape {shape}; the model needs (…, {d_model}).")
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


def _target_words(given: Mapping[str, Shape], names: Names, d_model: int) -> int:
    """The words that tutorial E's decoder chooses from; 0 without a decoder."""
    (name,) = names.get("decoder.embed.tokens.weight", ("",))
    if not name:
        return 0
    shape = given.get(name, ())
    if len(shape) != 2 or shape[0] < 1 or shape[1] != d_model:
        raise WeightsError(f"{name} is missing or not (…, {d_model}); its shape tells the target's vocabulary.")
    return shape[0]


def build_encoder(
    tensors: Mapping[str, Tensor], recognised: RecognisedWeights, config: ModelConfig, seed: int = 0
) -> Encoder:
    """Make the encoder whose weights these are: of tutorial E the encoder half.

    Where the file has no token table but the config does, its rows are drawn from the seed.

    Raises:
        WeightsError: names the first tensor that is missing, of another shape, or one too many.
    """
    if recognised.scheme == "tutorial-e":
        both = EncoderDecoder(config, recognised.tgt_vocab_size, seed=None)
        load_weights(both, tensors, recognised.scheme)
        return both.encoder
    loaded = Encoder(replace(config, vocab_size=recognised.settings["vocab_size"]), seed=None)
    load_weights(loaded, tensors, recognised.scheme)
    if loaded.config == config:
        return loaded
    encoder = Encoder(config, seed)
    encoder.load_state_dict(loaded.state_dict(), strict=False)
    return encoder
