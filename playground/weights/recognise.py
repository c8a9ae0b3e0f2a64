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
from playground.weights.huggingface import FAMILIES
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

_WITH_CONFIG = {family.scheme: family.title for family in FAMILIES.values() if family.scheme != "bert"}
"""Schemes whose names and shapes leave too much open, and whose they are."""

_ROBERTA_ROWS = 512 + 2
"""Of the position table of RoBERTa and its relatives."""

_OPEN = (
    "n_heads", "norm_placement", "norm_eps", "activation", "positions", "max_len", "scale_embeddings", "head_merge",
    "residual",
)  # fmt: skip
"""Fields that leave no trace in names and shapes, but for a table of positions."""

_UNASKED = ("dropout", "initialisation")
"""Fields that matter no more once there are weights.

Every other that shapes do not tell our own models may have in any way; of other schemes it is known.
"""


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
    table_rows: int = 0
    """Rows of the learned positions, those before the first token's among them; 0 where there are none."""

    def config(self, **answers: Any) -> ModelConfig:
        """The encoder's architecture: settings go before answers, answers before usual values; ConfigError if unfit."""
        fields = {**self.open_settings, **answers, **self.settings}
        if self.table_rows:
            fields["max_len"] = self.table_rows - fields["position_offset"]
        return ModelConfig(**fields)


def recognise(header: Mapping[str, Shape]) -> RecognisedWeights:
    """Find the naming scheme of tensors, given as name → shape, and what they tell about the model.

    Every size comes from a tensor that is as large as it says, so that a small file can't ask for a large model.

    Raises:
        WeightsError: no scheme has these names, or the shapes describe no encoder.
    """
    scheme = scheme_of(header)
    if scheme in _WITH_CONFIG:
        raise WeightsError(
            f"These names are of {_WITH_CONFIG[scheme]}: add its config.json, which says what they leave open."
        )
    given = respelled(header, SCHEMES[scheme])
    names = names_of_file(given, SCHEMES[scheme])
    shapes, n_layers = encoder_shapes(given, names)
    d_ff, d_model = _widths(shapes, names)
    usual = vars(_USUAL[scheme])
    project = shapes.get("embed.project.weight")
    width = project[1] if project is not None and len(project) == 2 else d_model
    settings: dict[str, Any] = {
        "vocab_size": _rows(shapes, "embed.tokens.weight", names, width),
        "d_model": d_model,
        "n_layers": n_layers,
        "d_ff": d_ff,
        "gated": "layers.{i}.ffn.gate.weight" in shapes,
        "bias": "layers.{i}.ffn.up.bias" in shapes,
        "qk_norm": "layers.{i}.attn.q_norm.gain" in shapes,
        "d_embedding": width if project is not None else 0,
        "norm": _norm(shapes, scheme, d_model),
        "final_norm": "final_norm.gain" in shapes,
        "embedding_norm": "embed.norm.gain" in shapes,
        "n_segments": _rows(shapes, "embed.segments.weight", names, width),
        "fused_qkv": SCHEMES[scheme].head_by_head,
    }
    open_in_ours = [field for field in usual if field not in (*settings, *_OPEN, *_UNASKED)]
    table_rows, computed = 0, SCHEMES[scheme].position_table
    if "embed.positions.weight" in shapes:
        table_rows = _rows(shapes, "embed.positions.weight", names, width)
        settings |= {"positions": "learned", "max_len": table_rows}
        if scheme == "bert" and (settings["n_segments"] == 1 or table_rows == _ROBERTA_ROWS):
            raise WeightsError(
                "These names are BERT's, and the shapes RoBERTa's, whose positions start at another row: add the "
                "config.json, which says which it is."
            )
    elif computed is not None and computed in given:
        settings["max_len"] = _computed_rows(computed, given[computed], d_model)
    if "relative.weight" in shapes and len(shapes["relative.weight"]) == 2:
        buckets, n_heads = shapes["relative.weight"]
        settings |= {"positions": "relative", "relative_buckets": buckets, "n_heads": n_heads}
    if "layers.{i}.post_norm1.gain" in shapes:
        settings["norm_placement"] = "both"
    if scheme.startswith("playground") and not settings["bias"] and settings["norm"] == "layer":
        del settings["norm"]  # a root mean square has a gain too
    if not scheme.startswith("playground"):
        settings = {field: usual[field] for field in open_in_ours} | settings
    elif _head_rows(given) == (d_model, d_model):
        settings |= {"d_head": 0, "n_kv_heads": 0}
    usual = {field: usual[field] for field in (*_OPEN, *open_in_ours, "norm") if field not in settings}
    if "d_head" in usual:
        usual |= _guess_heads(*_head_rows(given), settings.get("n_heads"))
    tgt_vocab_size = _target_words(given, names, d_model)
    try:
        ModelConfig(**usual | settings | ({"n_heads": 1} if not usual.get("d_head") and "n_heads" in usual else {}))
        if not usual.get("d_head") and "n_heads" in usual and d_model % usual["n_heads"]:
            usual["n_heads"] = nearest_divisors(d_model, usual["n_heads"])[0]
        recognised = RecognisedWeights(scheme, settings, usual, tgt_vocab_size, table_rows)
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
    name, given = SCHEMES[recognised.scheme].position_table, respelled(tensors, SCHEMES[recognised.scheme])
    if name is None or name not in given:
        return recognised
    kind = kind_of_positions(given[name].float().reshape(-1, recognised.settings["d_model"]))
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


def _head_rows(given: Mapping[str, Shape]) -> tuple[int, int]:
    """How many rows queries have, and how many keys, in a file of our own; 0 where that cannot be told."""
    fused, *apart = (given.get(f"layers.0.attn.{name}.weight", ()) for name in ("qkv", "q", "k"))
    q, k = (shape[0] if shape else 0 for shape in apart)
    return (fused[0] // 3, fused[0] // 3) if fused else (q, k)


def _guess_heads(q_rows: int, k_rows: int, n_heads: int | None) -> dict[str, int]:
    """Heads that have so many rows in all; as wide as they can be, where their number is not known."""
    n_heads = n_heads or max(1, q_rows // max(1, k_rows))
    d_head = max(1, q_rows // n_heads)
    return {"n_heads": n_heads, "d_head": d_head, "n_kv_heads": max(1, k_rows // d_head)}


def _norm(shapes: Mapping[str, Shape], scheme: str, d_model: int) -> str:
    """The kind of norm; only our own models may have none, or one without a bias."""
    gain = shapes.get("layers.{i}.norm2.gain")
    if scheme.startswith("playground"):
        if gain is None:
            return "none"
        if "layers.{i}.norm2.bias" not in shapes and "layers.{i}.ffn.up.bias" in shapes:
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
