"""Read a Hugging Face checkpoint's config.json as a `ModelConfig` and a naming scheme, by the table `families.yaml`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playground.config import ModelConfig
from playground.errors import ConfigError, PretrainedError
from playground.text.data import read_table

Given = Mapping[str, Any]
"""A config.json, with defaults."""

_ACTIVATIONS = {
    "relu": "relu",
    "gelu": "gelu",
    "gelu_new": "gelu-tanh",
    "gelu_fast": "gelu-tanh",
    "gelu_pytorch_tanh": "gelu-tanh",
    "silu": "silu",
    "swish": "silu",
}

_SIZE = (1, 1_000_000)
_BOUNDS: dict[str, tuple[float, float]] = {
    **dict.fromkeys(("n_layers", "n_heads"), (1, 96)),  # what the pages can show
    **dict.fromkeys(("n_segments", "relative_buckets", "global_every"), (1, 1_000)),
    "position_offset": (0, 1_000_000),
    "dropout": (0.0, 0.999),
    "norm_eps": (1e-15, 0.1),
    "rotary_base": (1.0, 1e9),
}
"""Of numbers that are read, by our field, else `_SIZE`; whole numbers between whole bounds."""


@dataclass(frozen=True)
class Family:
    """Checkpoints of one `model_type`: see `families.yaml`."""

    title: str
    scheme: str
    fields: dict[str, str]
    settled: dict[str, Any]
    defaults: dict[str, Any]
    needed: dict[str, Any] = field(default_factory=dict)


FAMILIES = {kind: Family(**each) for kind, each in read_table(Path(__file__).with_name("families.yaml")).items()}
"""By `model_type`."""


def read_config(given: object) -> tuple[ModelConfig, str]:
    """Return the encoder that a config.json describes, and the naming scheme of its tensors.

    Raises:
        PretrainedError: its family is unknown, an entry is missing, or it asks for what the encoder does not support.
    """
    if not isinstance(given, dict):
        raise PretrainedError("It does not describe a model.")
    kind = given.get("model_type")
    family = FAMILIES.get(kind) if isinstance(kind, str) else None
    if family is None:
        titles = ", ".join(each.title for each in FAMILIES.values())
        raise PretrainedError(
            f"It describes a model of the type {repr(kind)[:40]}; the types that open here are {titles}."
        )
    entries = family.defaults | given
    for name, value in family.needed.items():
        _check_supported(name, entries.get(name), None, value)
    try:
        fields = {ours: _read_entry(entries, name, ours) for ours, name in family.fields.items()} | family.settled
        return ModelConfig(**fields | _read_rest(family.scheme, entries, fields)), family.scheme
    except KeyError as error:
        raise PretrainedError(f"It has no {error}.") from error
    except ConfigError as error:
        raise PretrainedError(f"It describes no encoder: {error}") from error
    except (TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise PretrainedError(f"It describes no encoder: an entry has a wrong type or value ({error}).") from error


def _check_supported(name: str, value: object, *works: object) -> None:
    if value not in works:
        raise PretrainedError(f"It asks for {name}={value!r:.40}, which this encoder does not support.")


def _read_entry(given: Given, name: str, ours: str) -> Any:
    """Return a number within its bounds, or an activation function, for a field of ours."""
    value = given[name]
    if ours == "activation":
        _check_supported(name, value, *_ACTIVATIONS)
        return _ACTIVATIONS[value]
    low, high = _BOUNDS.get(ours, _SIZE)
    is_whole = isinstance(low, int)
    if (type(value) is not int and (is_whole or type(value) is not float)) or not low <= value <= high:
        kind = "whole number" if is_whole else "number"
        raise PretrainedError(f"{name} is {value!r:.40}; it has to be a {kind} from {low:,} to {high:,}.")
    return value


def _read_rest(scheme: str, given: Given, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that take more than a name."""
    if scheme == "roberta":  # positions begin behind padding's id, in a table with rows for these too
        offset = 1 + _read_entry({"pad_token_id": 1, **given}, "pad_token_id", "position_offset")
        return {"position_offset": offset, "max_len": fields["max_len"] - offset}
    if scheme == "electra" and fields["d_embedding"] == fields["d_model"]:
        return {"d_embedding": 0}
    if scheme == "t5":  # version 1.1 has gated feed-forward networks
        kind = str(given["feed_forward_proj"])
        act = "gelu_new" if kind == "gated-gelu" else kind.removeprefix("gated-")
        if act not in _ACTIVATIONS:
            _check_supported("feed_forward_proj", kind)
        return {"activation": _ACTIVATIONS[act], "gated": kind.startswith("gated-")}
    if scheme == "modernbert":
        return {"global_every": _read_global_every(given, fields["n_layers"]), **_read_rotary(given)}
    return {}


def _read_global_every(given: Given, n_layers: int) -> int:
    types = given.get("layer_types")
    if types is None:
        return int(_read_entry(given, "global_attn_every_n_layers", "global_every"))
    every = types.index("full_attention", 1) if "full_attention" in types[1:] else len(types)
    works = ["full_attention" if i % every == 0 else "sliding_attention" for i in range(n_layers)]
    _check_supported("layer_types", types, works)
    return every


def _read_rotary(given: Given) -> dict[str, int]:
    """Return the bases without a window and with one, as newer and older files write them."""
    newer = given.get("rope_parameters") or {}
    bases = {}
    for field_name, kind, older, default in (
        ("rotary_base", "full_attention", "global_rope_theta", 160_000),
        ("local_rotary_base", "sliding_attention", "local_rope_theta", 10_000),
    ):
        rope = newer.get(kind) or {"rope_theta": given.get(older)}
        _check_supported("rope_type", rope.get("rope_type", "default"), "default")
        given_base = {"rope_theta": default} | {name: each for name, each in rope.items() if each is not None}
        base = _read_entry(given_base, "rope_theta", "rotary_base")
        _check_supported("rope_theta", base, int(base))
        bases[field_name] = int(base)
    return bases
