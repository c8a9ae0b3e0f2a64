"""What a file's names and shapes say about its model, what they leave open, and the encoder with its weights."""

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
from playground.weights.schemes import SCHEMES, Names, Shape, T, find_scheme, find_table, half_of, respell, split_layer

MAX_COMPUTED_POSITIONS = 5_000
"""Rows of a table that is computed again."""

_USUAL = {name: PRESETS[name].config if name in PRESETS else ModelConfig(vocab_size=0) for name in SCHEMES}
_USUAL["bert"] = PRESETS["minilm-l6"].config

_NEED_CONFIG = {family.scheme: family.title for family in FAMILIES.values() if family.scheme != "bert"}
"""Schemes that leave too much open, with the title of a family."""

_OPEN = (
    *("n_heads", "norm_placement", "norm_eps", "activation", "positions", "max_len"),
    *("scale_embeddings", "head_merge", "residual"),
)
"""Fields that leave no trace in shapes."""

_UNUSED = ("dropout", "initialisation")


@dataclass(frozen=True)
class RecognisedWeights:
    """A file's naming scheme, and its encoder's settings by the fields of `ModelConfig`."""

    scheme: str
    settings: Mapping[str, Any]
    """What the shapes tell."""
    open_settings: Mapping[str, Any]
    """What they leave open, each with its usual value."""
    tgt_vocab_size: int = 0
    """0 without a decoder."""
    table_rows: int = 0
    """Of learned positions, those before the first token's included."""

    def config(self, **answers: Any) -> ModelConfig:
        """Return the architecture, with answers for open settings; ConfigError if it is impossible."""
        fields = {**self.open_settings, **answers, **self.settings}
        if self.table_rows:
            fields["max_len"] = self.table_rows - fields["position_offset"]
        return ModelConfig(**fields)


def recognise(header: Mapping[str, Shape]) -> RecognisedWeights:
    """Find the naming scheme of tensors, given as name → shape, and what they tell about the model.

    A small file cannot ask for a large model. WeightsError if no scheme has these names, or they describe no encoder.
    """
    scheme = find_scheme(header)
    if scheme in _NEED_CONFIG:
        raise WeightsError(
            f"These names are of {_NEED_CONFIG[scheme]}: add its config.json, which says what they leave open."
        )
    is_ours = scheme.startswith("playground")
    given = respell(header, SCHEMES[scheme])
    names = find_table(given, SCHEMES[scheme])
    settings, table_rows = _read_shapes(scheme, given, names)
    usual = vars(_USUAL[scheme])
    if not is_ours:
        settings = {field: usual[field] for field in usual if field not in (*_OPEN, *_UNUSED)} | settings
    elif not settings["bias"] and settings["norm"] == "layer":
        del settings["norm"]  # RMSNorm has a gain and no bias too
    usual = {field: usual[field] for field in (*_OPEN, *usual) if field not in (*settings, *_UNUSED)}
    if is_ours:
        usual |= _guess_heads(given, settings) | ({} if "tied" in settings else {"tied": "shared"})
        if not usual["d_head"]:
            settings |= {field: usual.pop(field) for field in ("d_head", "n_kv_heads")}
    (target,) = names.get("decoder.embed.tokens.weight", ("",))
    width = settings["d_model"]
    words = _count_rows(target, given.get(target, (1, width)), width) if target else 0  # a missing table is named later
    try:
        if "n_heads" in usual and not usual.get("d_head"):
            ModelConfig(**usual | settings | {"n_heads": 1})
            if width % usual["n_heads"]:
                usual["n_heads"] = nearest_divisors(width, usual["n_heads"])[0]
        recognised = RecognisedWeights(scheme, settings, usual, words, table_rows)
        needed, held = count_parameters(recognised.config()).total, sum(map(math.prod, header.values()))
    except ConfigError as error:
        raise WeightsError(f"These shapes describe no encoder: {error}") from error
    if needed > 2 * held:  # what is missing is named later; here it would be most of the model
        raise WeightsError(f"These shapes describe an encoder of {needed:,} parameters, and the file holds {held:,}.")
    return recognised


def _read_shapes(scheme: str, given: Mapping[str, Shape], names: Names) -> tuple[dict[str, Any], int]:
    """Return the settings that shapes tell, and the rows of learned positions."""
    shapes, n_layers = _our_shapes(given, names)
    up = shapes.get("layers.{i}.ffn.up.weight", ())
    if len(up) != 2:
        name = _their_name("layers.{i}.ffn.up.weight", names)
        raise WeightsError(f"{name} is missing or no matrix; its shape tells d_ff and d_model.")
    d_ff, d_model = up
    project = shapes.get("embed.project.weight", ())
    width = project[1] if len(project) == 2 else d_model

    is_joined = shapes.get("embed.tokens.weight", (0, 0))[-1] * 2 == width and scheme.startswith("playground")

    def count_rows(table: str) -> int:
        name, columns = f"embed.{table}.weight", width // 2 if is_joined and table != "segments" else width
        return _count_rows(_their_name(name, names), shapes[name], columns) if name in shapes else 0

    settings: dict[str, Any] = {
        "vocab_size": count_rows("tokens"),
        "d_model": d_model,
        "n_layers": n_layers,
        "d_ff": d_ff,
        "gated": "layers.{i}.ffn.gate.weight" in shapes,
        "bias": "layers.{i}.ffn.up.bias" in shapes,
        "qk_norm": "layers.{i}.attn.q_norm.gain" in shapes,
        "d_embedding": width if project else 0,
        "norm": _kind_of_norm(shapes, d_model),
        "final_norm": "final_norm.gain" in shapes,
        "embedding_norm": "embed.norm.gain" in shapes,
        "n_segments": count_rows("segments"),
        "fused_qkv": SCHEMES[scheme].head_by_head,
        "position_join": "concatenate" if is_joined else "add",
        "tied": "separate",
    }
    q, k, v = (given.get(f"layers.0.attn.{name}.weight", ()) for name in "qkv")
    if q and v and not k:
        settings |= {"tied": "merged", "n_heads": q[0] // max(1, d_model)}
        if q == v:  # or one map for queries and keys: a shape does not tell
            del settings["tied"], settings["n_heads"]
    table_rows, computed = count_rows("positions"), SCHEMES[scheme].position_table
    if table_rows:
        settings |= {"positions": "learned", "max_len": table_rows}
        if scheme == "bert" and (settings["n_segments"] == 1 or table_rows == 514):
            raise WeightsError("Names of BERT and shapes of RoBERTa: add the config.json, which says which it is.")
    elif computed is not None and computed in given:
        settings["max_len"] = _count_rows(computed, given[computed], d_model, MAX_COMPUTED_POSITIONS)
    if len(shapes.get("relative.weight", ())) == 2:
        buckets, n_heads = shapes["relative.weight"]
        settings |= {"positions": "relative", "relative_buckets": buckets, "n_heads": n_heads}
    if "layers.{i}.post_norm1.gain" in shapes:
        settings["norm_placement"] = "both"
    return settings, table_rows


def _our_shapes(given: Mapping[str, Shape], names: Names) -> tuple[dict[str, Shape], int]:
    """Return shapes by our name with `{i}`, and the number of layers."""
    ours_of = {theirs: ours for ours, tensors in names.items() for theirs in tensors}
    half, shapes, layers = half_of(names), dict[str, Shape](), set()
    for name, shape in given.items():
        template, layer = split_layer(name)
        ours = ours_of.get(template, "")
        if ours and ours.startswith(half):
            ours, layer = split_layer(ours.removeprefix(half).format(i=layer))
            shapes.setdefault(ours, shape)
            layers.add(layer)
    return shapes, len(layers - {None})


def _their_name(ours: str, names: Names) -> str:
    half = half_of(names)
    theirs = names.get(f"{half}{ours}") or names[f"{half}{ours.format(i=0)}"]
    return theirs[0].format(i=0)


def _count_rows(name: str, shape: Shape, width: int, most: int = 0) -> int:
    """Return the rows of a table of vectors; with `most` it may have more axes."""
    rows = math.prod(shape[:-1])
    if shape[-1:] != (width,) or (rows > most if most else len(shape) != 2):
        bound = f", at most {most:,} rows" if most else ""
        raise WeightsError(f"{name} has shape {shape}; the model needs (…, {width}){bound}.")
    return rows


def _kind_of_norm(shapes: Mapping[str, Shape], d_model: int) -> str:
    gain = shapes.get("layers.{i}.norm2.gain")
    if gain is None:
        return "none"
    if "layers.{i}.norm2.bias" not in shapes and "layers.{i}.ffn.up.bias" in shapes:
        return "rms"
    return "scalar" if gain == (1,) and d_model > 1 else "layer"


def _guess_heads(given: Mapping[str, Shape], settings: Mapping[str, Any]) -> dict[str, int]:
    """Return heads that fit a file of our own, as wide as they can be."""
    fused, q, k, v = (given.get(f"layers.0.attn.{name}.weight", (0,))[0] for name in ("qkv", "q", "k", "v"))
    q, k = (fused // 3, fused // 3) if fused else (q, k) if k else (v, v)
    if q == k == settings["d_model"]:
        return {"d_head": 0, "n_kv_heads": 0}
    n_heads = settings.get("n_heads") or max(1, q // max(1, k))
    d_head = max(1, q // n_heads)
    told = {} if "n_heads" in settings else {"n_heads": n_heads}
    return {**told, "d_head": d_head, "n_kv_heads": max(1, k // d_head)}


def recognise_tensors(tensors: Mapping[str, Tensor]) -> RecognisedWeights:
    """As `recognise`; a trained table settles the positions."""
    recognised = recognise({name: tuple(tensor.shape) for name, tensor in tensors.items()})
    name, given = SCHEMES[recognised.scheme].position_table, respell(tensors, SCHEMES[recognised.scheme])
    if name is None or name not in given:
        return recognised
    kind = kind_of_positions(given[name].float().reshape(-1, recognised.settings["d_model"]))
    usual = {**recognised.open_settings, "positions": kind}
    if kind != "learned":
        return replace(recognised, open_settings=usual)
    return replace(
        recognised, settings={**recognised.settings, "positions": usual.pop("positions")}, open_settings=usual
    )


def encoder_half(named: Mapping[str, T]) -> dict[str, T]:
    """Return the encoder of a model that was trained here with a head or decoder."""
    if "encoder.embed.tokens.weight" not in named:
        return dict(named)
    return {name.removeprefix("encoder."): one for name, one in named.items() if name.startswith("encoder.")}


def build_encoder(
    tensors: Mapping[str, Tensor], recognised: RecognisedWeights, config: ModelConfig, seed: int = 0
) -> Encoder:
    """Build the encoder with these weights; of tutorial E the encoder half. WeightsError names the first misfit."""
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
