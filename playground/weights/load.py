"""Foreign tensors into our models, checked before anything changes."""

import math
import re
from collections.abc import Collection, Mapping

import torch
from torch import Tensor

from playground.config import ModelConfig
from playground.errors import WeightsError
from playground.model import Encoder, EncoderDecoder
from playground.model.positions import sinusoids
from playground.weights.schemes import SCHEMES, Names, Scheme, find_table, half_of, respell


def kind_of_positions(table: Tensor) -> str:
    """Return `sinusoidal`, `sinusoidal-doubled` or `learned` for a table (L, d_model), up to rounding."""
    rounding = 1e-5 + 5e-7 * torch.arange(len(table))[:, None]  # (L, 1): float32 angles; later positions turn further
    tolerance = rounding.clamp(min=torch.finfo(table.dtype).eps if table.is_floating_point() else 0)
    for kind, doubled in {"sinusoidal": False, "sinusoidal-doubled": True}.items():
        if ((table.float() - sinusoids(*table.shape, doubled=doubled)).abs() <= tolerance).all():
            return kind
    return "learned"


def load_weights(model: Encoder | EncoderDecoder, tensors: Mapping[str, Tensor], scheme: str) -> None:
    """Copy tensors named in a scheme of `SCHEMES` into a model, as float32; nothing changes if anything is wrong.

    "tutorial-e" is for an `EncoderDecoder`, the others for an `Encoder`. A file without embeddings leaves the model's
    as they are. A model built with `seed=None` gets the copies as its parameters.

    Raises:
        WeightsError: the scheme is unknown or has no name for a parameter, or a tensor is missing, one too many, or of
            another shape or type.
    """
    if scheme not in SCHEMES:
        raise WeightsError(f"Unknown naming scheme {scheme!r}; the known ones are {', '.join(SCHEMES)}.")
    given = _split(respell(tensors, SCHEMES[scheme]), SCHEMES[scheme])
    if model.config.share_layers:  # our own files repeat the one block in every place
        given = {name: tensor for name, tensor in given.items() if not re.match(r"layers\.[1-9]", name)}
    known = find_table(given, SCHEMES[scheme])
    known = known | _take_position_table(given, known, SCHEMES[scheme], model.config)
    if model.config.tied != "separate":
        known = _without_keys(known)
    shapes = _stacked_shapes(model)
    names = _names_in(shapes, known, scheme, model.config.n_layers)
    needed: dict[str, tuple[int, ...]] = {}
    for ours, theirs in names.items():
        rows, *columns = shapes[ours]
        parts = _head_rows(model.config) if len(theirs) == 3 else [rows]
        needed |= {name: (part, *columns) for name, part in zip(theirs, parts, strict=True)}
    check_tensors(given, needed, "model")
    untouched = next((ours for ours in shapes if ours not in names), None)
    is_meta = next(model.parameters()).is_meta
    if untouched is not None and is_meta:
        raise WeightsError(f"No tensor is {untouched}, and the model was built without weights (seed=None).")
    state: dict[str, Tensor] = {}
    for ours, theirs in names.items():
        tensor = torch.cat([given[name].detach().float() for name in theirs])
        if "attn.qkv." in ours:
            state |= _as_stored(ours, tensor, SCHEMES[scheme], model.config)
        else:
            state[ours] = tensor
    model.load_state_dict(state, strict=False, assign=is_meta)


def _split(given: dict[str, Tensor], scheme: Scheme) -> dict[str, Tensor]:
    for part, names in scheme.split.items():
        for whole in [name for name in given if part in name]:
            pieces = given.pop(whole).chunk(len(names))
            given |= {whole.replace(part, name): piece for name, piece in zip(names, pieces, strict=False)}
    return given


def _take_position_table(given: dict[str, Tensor], known: Names, scheme: Scheme, config: ModelConfig) -> Names:
    """Return our names for the file's table if the model learns positions; else remove it."""
    name = scheme.position_table
    if name is None or name not in given:
        return {}
    table = given.pop(name)
    if table.shape[-1:] != (config.d_model,):
        raise WeightsError(f"{name} has shape {tuple(table.shape)}; the model needs (…, {config.d_model}).")
    table = table.reshape(-1, config.d_model)  # (1, L, d_model), and (L, 1, d_model) where sentences come second
    if config.positions == "learned":
        given[name] = table
        halves = ("encoder.", "decoder.") if half_of(known) else ("",)
        return {f"{half}embed.positions.weight": (name,) for half in halves}
    if kind_of_positions(table) == "learned":
        raise WeightsError(f"{name} is no table of sines and cosines; a model with positions='learned' takes it.")
    return {}


def _without_keys(known: Names) -> Names:
    """Return names with maps of q and v apart, and none of k."""
    apart = Names()
    for ours, theirs in known.items():
        if "attn.qkv." in ours and len(theirs) == 3:
            apart |= {ours.replace("qkv", "q"): theirs[:1], ours.replace("qkv", "v"): theirs[2:]}
        else:
            apart[ours] = theirs
    return apart


def _names_in(parameters: Collection[str], known: Names, scheme: str, n_layers: int) -> Names:
    """Return our name → theirs for every parameter that the file fills."""
    each = {
        ours.format(i=i): tuple(name.format(i=i) for name in theirs)
        for i in range(n_layers)
        for ours, theirs in known.items()
    }
    has_embeddings = any(ours.startswith(f"{half_of(known)}embed.") for ours in known)
    wanted = [ours for ours in parameters if has_embeddings or not ours.startswith("embed.")]
    unknown = next((ours for ours in wanted if ours not in each), None)
    if unknown is not None:
        raise WeightsError(f"The scheme {scheme!r} has no name for the model's {unknown}.")
    return {ours: each[ours] for ours in wanted}


def _stacked_shapes(model: Encoder | EncoderDecoder) -> dict[str, tuple[int, ...]]:
    """Return every parameter's shape, q, k and v as one `qkv`."""
    shapes: dict[str, tuple[int, ...]] = {}
    for name, parameter in model.named_parameters():
        ours = re.sub(r"attn\.[qkv]\.", "attn.qkv.", name) if model.config.tied == "separate" else name
        rows, *columns = parameter.shape
        above = shapes[ours][0] if ours in shapes else 0
        shapes[ours] = (above + rows, *columns)
    return shapes


def _head_rows(config: ModelConfig) -> list[int]:
    keys = config.kv_heads * config.head_width
    return [config.n_heads * config.head_width, keys, keys]


def check_tensors(given: Mapping[str, Tensor], shapes: Mapping[str, tuple[int, ...]], model: str) -> None:
    """Raise WeightsError for the first tensor that is missing, of another shape or type, or one too many."""
    for name, shape in shapes.items():
        if name not in given:
            raise WeightsError(f"{name} is missing; the {model} needs it with shape {shape}.")
        if given[name].shape != shape:
            raise WeightsError(f"{name} has shape {tuple(given[name].shape)}; the {model} needs {shape}.")
        if not given[name].is_floating_point():
            raise WeightsError(f"{name} holds {given[name].dtype} numbers; the {model} needs floats.")
    extra = next((name for name in given if name not in shapes), None)
    if extra is not None:
        raise WeightsError(f"{extra} is not a part of this {model}.")


def _as_stored(ours: str, qkv: Tensor, scheme: Scheme, config: ModelConfig) -> dict[str, Tensor]:
    """Lay queries, keys and values, one below the other, out as the model has them."""
    if scheme.scores_undivided:
        qkv[: config.n_heads * config.head_width] *= math.sqrt(config.head_width)
    if scheme.head_by_head != config.fused_qkv:
        blocks = (config.n_heads, 3) if scheme.head_by_head else (3, config.n_heads)
        qkv = qkv.view(*blocks, config.head_width, *qkv.shape[1:]).transpose(0, 1).flatten(0, 2)
    if config.fused_qkv:
        return {ours: qkv}
    parts = zip("qkv", torch.split(qkv, _head_rows(config)), strict=True)
    return {ours.replace(".qkv.", f".{letter}."): part.clone() for letter, part in parts}
