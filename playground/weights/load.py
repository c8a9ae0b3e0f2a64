"""Foreign tensors into our models, checked before anything changes."""

import re
from collections.abc import Collection, Mapping
from typing import TypeVar

import torch
from torch import Tensor

from playground.config import ModelConfig
from playground.errors import WeightsError
from playground.model import Encoder, EncoderDecoder
from playground.weights.schemes import SCHEMES, Names, Scheme

T = TypeVar("T")


def load_weights(model: Encoder | EncoderDecoder, tensors: Mapping[str, Tensor], scheme: str) -> None:
    """Copy tensors named in a scheme of `SCHEMES` into a model, as float32; nothing changes if anything is wrong.

    "tutorial-e" is for an `EncoderDecoder`, the others for an `Encoder`. A model on the meta device (built with
    `seed=None`) gets the copies as its parameters.

    Raises:
        WeightsError: names the first tensor that is missing, of another shape or type, or one too many; or the scheme
            is unknown; or the model has a parameter that the scheme has no name for.
    """
    if scheme not in SCHEMES:
        raise WeightsError(f"Unknown naming scheme {scheme!r}; the known ones are {', '.join(SCHEMES)}.")
    given = respelled(tensors, SCHEMES[scheme])
    _drop_position_table(given, SCHEMES[scheme], model.config.d_model)
    shapes = _stacked_shapes(model)
    names = _names_in(shapes, scheme, model.config.n_layers)
    _check(given, names, shapes)
    state: dict[str, Tensor] = {}
    for ours, theirs in names.items():
        tensor = torch.cat([given[name].detach().float() for name in theirs])
        if "attn.qkv." in ours:
            state |= _as_stored(ours, tensor, SCHEMES[scheme], model.config)
        else:
            state[ours] = tensor
    model.load_state_dict(state, strict=False, assign=next(model.parameters()).is_meta)


def respelled(named: Mapping[str, T], scheme: Scheme) -> dict[str, T]:
    """Tensors, or what there is to say of them, under the scheme's own spelling, without those that it ignores."""
    given = {}
    for name, tensor in named.items():
        for pattern, spelling in scheme.spellings:
            name = re.sub(pattern, spelling, name)
        if scheme.ignored is None or not re.match(scheme.ignored, name):
            given[name] = tensor
    return given


def _drop_position_table(given: dict[str, Tensor], scheme: Scheme, d_model: int) -> None:
    """Take the computed position table out of `given`; WeightsError if it is another model's."""
    if scheme.position_table in given:
        shape = tuple(given.pop(scheme.position_table).shape)
        if shape[-1:] != (d_model,):
            raise WeightsError(f"{scheme.position_table} has shape {shape}; the model needs (…, {d_model}).")


def _names_in(parameters: Collection[str], scheme: str, n_layers: int) -> Names:
    """Our name → theirs, for every parameter of the model that the scheme is to fill."""
    known = {
        ours.format(i=i): tuple(name.format(i=i) for name in theirs)
        for i in range(n_layers)
        for ours, theirs in SCHEMES[scheme].names.items()
    }
    wanted = [ours for ours in parameters if not ours.startswith(SCHEMES[scheme].untouched)]
    unknown = next((ours for ours in wanted if ours not in known), None)
    if unknown is not None:
        raise WeightsError(f"The scheme {scheme!r} has no name for the model's {unknown}.")
    return {ours: known[ours] for ours in wanted}


def _stacked_shapes(model: Encoder | EncoderDecoder) -> dict[str, tuple[int, ...]]:
    """The shape of every parameter, with q, k and v as one `qkv`, one below the other, however the model has them."""
    shapes: dict[str, tuple[int, ...]] = {}
    for name, parameter in model.named_parameters():
        ours = re.sub(r"attn\.[qkv]\.", "attn.qkv.", name)
        rows, *columns = parameter.shape
        above = shapes[ours][0] if ours in shapes else 0
        shapes[ours] = (above + rows, *columns)
    return shapes


def _check(given: dict[str, Tensor], names: Names, shapes: dict[str, tuple[int, ...]]) -> None:
    """Raise WeightsError for the first tensor that stands between `given` and the model."""
    for ours, theirs in names.items():
        rows, *columns = shapes[ours]
        for name in theirs:
            shape = (rows // len(theirs), *columns)
            if name not in given:
                raise WeightsError(f"{name} is missing; the model needs it with shape {shape}.")
            if given[name].shape != shape:
                raise WeightsError(f"{name} has shape {tuple(given[name].shape)}; the model needs {shape}.")
            if not given[name].is_floating_point():
                raise WeightsError(f"{name} holds {given[name].dtype} numbers; the model needs floats.")
    known = {name for theirs in names.values() for name in theirs}
    extra = next((name for name in given if name not in known), None)
    if extra is not None:
        raise WeightsError(f"{extra} is not a part of this model.")


def _as_stored(ours: str, qkv: Tensor, scheme: Scheme, config: ModelConfig) -> dict[str, Tensor]:
    """Lay queries, keys and values (3 · d_model, …) out as the model has them: fused head by head, or apart."""
    if scheme.head_by_head != config.fused_qkv:
        blocks = (config.n_heads, 3) if scheme.head_by_head else (3, config.n_heads)
        qkv = qkv.view(*blocks, config.d_head, *qkv.shape[1:]).transpose(0, 1).flatten(0, 2)
    if config.fused_qkv:
        return {ours: qkv}
    parts = zip("qkv", qkv.chunk(3), strict=True)
    return {ours.replace(".qkv.", f".{letter}."): part.clone() for letter, part in parts}
