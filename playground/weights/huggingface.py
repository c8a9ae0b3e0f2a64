"""What a Hugging Face checkpoint's config.json says, as a `ModelConfig` and a naming scheme, family by family.

What it asks for and the encoder has not is refused in a sentence that names it.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from playground.config import ModelConfig
from playground.errors import ConfigError, PretrainedError

Given = Mapping[str, Any]
"""A config.json."""

_ACTIVATIONS = {
    "relu": "relu",
    "gelu": "gelu",
    "gelu_new": "gelu-tanh",
    "gelu_fast": "gelu-tanh",
    "gelu_pytorch_tanh": "gelu-tanh",
    "silu": "silu",
    "swish": "silu",
}
"""Their names of activation functions, and ours."""


@dataclass(frozen=True)
class Family:
    """Checkpoints of one `model_type`."""

    title: str
    scheme: str
    """How their tensors are named: a key of `SCHEMES`."""
    read: Callable[[Given], dict[str, Any]]
    """The fields of `ModelConfig` that a config.json says; raises `KeyError` for one that is missing."""
    defaults: dict[str, Any] = field(default_factory=dict)
    """What Hugging Face's code takes for an entry that is missing; sizes of matrices have to be there."""


_SIZE, _COUNT, _DROPOUT, _EPSILON, _BASE = (1, 1_000_000), (1, 1_000), (0.0, 0.999), (1e-15, 0.1), (1.0, 1e9)

_RANGES: dict[str, tuple[float, float]] = {
    **dict.fromkeys(("vocab_size", "hidden_size", "intermediate_size", "embedding_size", "dim", "hidden_dim"), _SIZE),
    **dict.fromkeys(("d_model", "d_kv", "d_ff", "n_positions", "relative_attention_max_distance"), _SIZE),
    **dict.fromkeys(("max_position_embeddings", "local_attention"), _SIZE),
    **dict.fromkeys(("num_hidden_layers", "n_layers", "num_layers", "global_attn_every_n_layers"), _COUNT),
    **dict.fromkeys(("num_attention_heads", "n_heads", "num_heads", "type_vocab_size"), _COUNT),
    **dict.fromkeys(("num_hidden_groups", "inner_group_num", "relative_attention_num_buckets"), _COUNT),
    **dict.fromkeys(("hidden_dropout_prob", "dropout", "dropout_rate", "mlp_dropout"), _DROPOUT),
    **dict.fromkeys(("layer_norm_eps", "layer_norm_epsilon", "norm_eps"), _EPSILON),
    **dict.fromkeys(("global_rope_theta", "local_rope_theta", "rope_theta"), _BASE),
    "pad_token_id": (0, 1_000_000),
}
"""The lowest and the highest value of every number that is read: whole ones between whole numbers."""

_TYPES: dict[str, type] = {
    **dict.fromkeys(("hidden_act", "activation", "hidden_activation", "feed_forward_proj"), str),
    **dict.fromkeys(("position_embedding_type", "rope_type"), str),
    **dict.fromkeys(("is_decoder", "add_cross_attention", "attention_bias", "mlp_bias", "norm_bias"), bool),
    **dict.fromkeys(("rope_parameters", "full_attention", "sliding_attention"), dict),
    "layer_types": list,
}
"""The type of every other entry that is read."""

_MAY_BE_NULL = ("global_rope_theta", "local_rope_theta", "rope_theta", "rope_parameters")


class _CheckedConfig(Mapping[str, Any]):
    """A config.json whose entries are checked as they are read; PretrainedError names one that is out of bounds."""

    def __init__(self, given: Given):
        self._given = given

    def __getitem__(self, name: str) -> Any:
        value = self._given[name]
        if value is None and name in _MAY_BE_NULL:
            return value
        if name in _RANGES:
            low, high = _RANGES[name]
            whole = isinstance(low, int)
            if (type(value) is not int and (whole or type(value) is not float)) or not low <= value <= high:
                wanted = f"{'whole ' if whole else ''}number from {low:,} to {high:,}"
                raise PretrainedError(f"{name} is {_quote(value)}; it has to be a {wanted}.")
        wanted_type = _TYPES.get(name, object)
        holds_other = wanted_type is list and isinstance(value, list) and not all(isinstance(one, str) for one in value)
        if holds_other or not isinstance(value, wanted_type):
            raise PretrainedError(f"{name} is {_quote(value)}; it has to be {_NAMES[wanted_type]}.")
        return _CheckedConfig(value) if isinstance(value, dict) else value

    def __iter__(self) -> Iterator[str]:
        return iter(self._given)

    def __len__(self) -> int:
        return len(self._given)


_NAMES: dict[type, str] = {str: "a word", bool: "true or false", dict: "a group of entries", list: "a list of words"}


def _quote(value: object) -> str:
    """The beginning of a value as JSON writes it."""
    if isinstance(value, int) and abs(value) > 10**40:
        return "a huge number"
    return {"None": "null", "True": "true", "False": "false"}.get(repr(value), repr(value)[:40])


def read_config(given: object) -> tuple[ModelConfig, str]:
    """The encoder that a config.json describes, and the naming scheme of its tensors.

    Args:
        given: the file's content, from JSON.

    Raises:
        PretrainedError: it is of no family that is known here, lacks an entry, or asks for what the encoder has not.
    """
    if not isinstance(given, dict):
        raise PretrainedError("It does not describe a model.")
    kind = given.get("model_type") or _kind_of_class(given.get("architectures"))
    if "model_type" not in given and "architectures" not in given and given.get("type_vocab_size") == 1:
        raise PretrainedError("It has no model_type, and a single segment, as RoBERTa has: add the model_type.")
    family = FAMILIES.get(kind) if isinstance(kind, str) else None
    if family is None:
        titles = ", ".join(each.title for each in FAMILIES.values())
        raise PretrainedError(
            f"It describes a model of the type {_quote(kind)}; the types that open here are {titles}."
        )
    try:
        return ModelConfig(**family.read(_CheckedConfig(family.defaults | given))), family.scheme
    except KeyError as error:
        raise PretrainedError(f"It has no {error}.") from error
    except ConfigError as error:
        raise PretrainedError(f"It describes no encoder: {error}") from error
    except (TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise PretrainedError(f"It describes no encoder: an entry has a wrong type or value ({error}).") from error


def _kind_of_class(classes: object) -> str:
    """The `model_type` that a class such as RobertaForMaskedLM is of; BERT's without one, as in old files."""
    name = str(classes[0]).lower() if isinstance(classes, list) and classes else "bert"
    kinds = [kind for kind in FAMILIES if name.startswith(kind.replace("-", ""))]
    return max(kinds, key=len, default=name)


def _refuse(what: str) -> PretrainedError:
    return PretrainedError(f"It asks for {what}, which this encoder has not.")


def _activation(given: Given, name: str) -> str:
    wanted = given[name]
    if wanted not in _ACTIVATIONS:
        raise _refuse(f"the activation function {_quote(wanted)}")
    return _ACTIVATIONS[wanted]


def _check_bert(given: Given) -> None:
    """Refuse what any of BERT's relatives may ask for and is not here."""
    kind = given.get("position_embedding_type", "absolute")
    if kind != "absolute":
        raise _refuse(f"positions of the type {_quote(kind)}")
    if given.get("is_decoder") or given.get("add_cross_attention"):
        raise _refuse("a decoder")


def _read_bert(given: Given) -> dict[str, Any]:
    """BERT (Devlin et al. 2018), and what RoBERTa, ELECTRA and ALBERT share with it."""
    _check_bert(given)
    return {
        "vocab_size": given["vocab_size"],
        "d_model": given["hidden_size"],
        "n_heads": given["num_attention_heads"],
        "n_layers": given["num_hidden_layers"],
        "d_ff": given["intermediate_size"],
        "max_len": given["max_position_embeddings"],
        "dropout": given.get("hidden_dropout_prob", 0.1),
        "norm_eps": given["layer_norm_eps"],
        "activation": _activation(given, "hidden_act"),
        "positions": "learned",
        "scale_embeddings": False,
        "embedding_norm": True,
        "n_segments": given["type_vocab_size"],
    }


def _read_roberta(given: Given) -> dict[str, Any]:
    """RoBERTa (Liu et al. 2019): positions begin behind padding's id, in a table that has rows for these too."""
    fields = _read_bert(given)
    offset = given.get("pad_token_id", 1) + 1
    return fields | {"position_offset": offset, "max_len": fields["max_len"] - offset}


def _read_electra(given: Given) -> dict[str, Any]:
    """ELECTRA (Clark et al. 2020): tables may be narrower than the stream."""
    fields = _read_bert(given)
    width = given["embedding_size"]
    return fields | {"d_embedding": 0 if width == fields["d_model"] else width}


def _read_albert(given: Given) -> dict[str, Any]:
    """ALBERT (Lan et al. 2019): one block's weights for all layers, and tables that are mapped to d_model."""
    for name in ("num_hidden_groups", "inner_group_num"):
        if given.get(name, 1) != 1:
            raise _refuse(f"{name}={_quote(given[name])}, blocks of several kinds")
    return _read_bert(given) | {"share_layers": True, "d_embedding": given["embedding_size"]}


def _read_distilbert(given: Given) -> dict[str, Any]:
    """DistilBERT (Sanh et al. 2019): BERT without segments; its table was begun with sines where the config says so."""
    return {
        "vocab_size": given["vocab_size"],
        "d_model": given["dim"],
        "n_heads": given["n_heads"],
        "n_layers": given["n_layers"],
        "d_ff": given["hidden_dim"],
        "max_len": given["max_position_embeddings"],
        "dropout": given.get("dropout", 0.1),
        "norm_eps": 1e-12,
        "activation": _activation(given, "activation"),
        "positions": "learned",
        "scale_embeddings": False,
        "embedding_norm": True,
    }


def _read_t5(given: Given) -> dict[str, Any]:
    """T5's encoder (Raffel et al. 2020), and version 1.1, whose feed-forward networks are gated."""
    kind = given.get("feed_forward_proj", "relu")
    name = kind.removeprefix("gated-")
    act = "gelu_new" if kind == "gated-gelu" else name
    if act not in _ACTIVATIONS:
        raise _refuse(f"the feed-forward network {_quote(kind)}")
    return {
        "vocab_size": given["vocab_size"],
        "d_model": given["d_model"],
        "n_heads": given["num_heads"],
        "d_head": given["d_kv"],
        "n_layers": given["num_layers"],
        "d_ff": given["d_ff"],
        "max_len": given.get("n_positions", 512),
        "dropout": given.get("dropout_rate", 0.1),
        "norm_placement": "pre",
        "norm": "rms",
        "norm_eps": given["layer_norm_epsilon"],
        "final_norm": True,
        "bias": False,
        "activation": _ACTIVATIONS[act],
        "gated": kind != name,
        "positions": "relative",
        "relative_buckets": given["relative_attention_num_buckets"],
        "relative_distance": given.get("relative_attention_max_distance", 128),
        "scale_embeddings": False,
    }


def _read_modernbert(given: Given) -> dict[str, Any]:
    """ModernBERT (Warner et al. 2024): rotary positions, local and global layers, GEGLU, no biases."""
    biases = [given.get(name, False) for name in ("attention_bias", "mlp_bias", "norm_bias")]
    if len(set(biases)) > 1:
        raise _refuse("biases in some parts and none in others")
    n_layers, every = given["num_hidden_layers"], _read_global_every(given)
    types = ["full_attention" if i % every == 0 else "sliding_attention" for i in range(n_layers)]
    if given.get("layer_types", types) != types:
        raise _refuse(f"windows in other layers than all but one of {every}")
    bases = _read_rotary(given)
    return {
        "vocab_size": given["vocab_size"],
        "d_model": given["hidden_size"],
        "n_heads": given["num_attention_heads"],
        "n_layers": n_layers,
        "d_ff": given["intermediate_size"],
        "max_len": given["max_position_embeddings"],
        "dropout": given.get("mlp_dropout", 0.0),
        "norm_placement": "pre",
        "norm_eps": given["norm_eps"],
        "final_norm": True,
        "first_norm": False,
        "bias": biases[0],
        "activation": _activation(given, "hidden_activation"),
        "gated": True,
        "positions": "rotary",
        "rotary_base": bases["full_attention"],
        "local_rotary_base": bases["sliding_attention"],
        "window": given["local_attention"],
        "global_every": every,
        "scale_embeddings": False,
        "embedding_norm": True,
    }


def _read_global_every(given: Given) -> int:
    """Of how many layers the first has no window, as newer and older files write it."""
    if "layer_types" not in given:
        return int(given["global_attn_every_n_layers"])
    types = list(given["layer_types"])
    return types.index("full_attention", 1) if "full_attention" in types[1:] else len(types)


def _read_rotary(given: Given) -> dict[str, int]:
    """The base of rotary positions in layers without a window and with one, as newer and older files write them."""
    older = {"full_attention": given.get("global_rope_theta"), "sliding_attention": given.get("local_rope_theta")}
    bases = {}
    for kind, base in older.items():
        rope = (given.get("rope_parameters") or {}).get(kind) or {"rope_theta": base}
        asked = rope.get("rope_type", "default")
        if asked != "default":
            raise _refuse(f"rotary positions of the type {_quote(asked)}")
        theta = rope["rope_theta"] if rope["rope_theta"] is not None else {"full_attention": 160_000}.get(kind, 10_000)
        if theta != int(theta):
            raise _refuse(f"rotary positions of the base {_quote(theta)}, no whole number")
        bases[kind] = int(theta)
    return bases


_BERT = {"layer_norm_eps": 1e-12, "type_vocab_size": 2, "hidden_act": "gelu", "max_position_embeddings": 512}
_T5 = {"layer_norm_epsilon": 1e-6, "relative_attention_num_buckets": 32, "d_kv": 64}
_MODERNBERT = {
    "norm_eps": 1e-5, "global_attn_every_n_layers": 3, "local_attention": 128, "hidden_activation": "gelu",
    "max_position_embeddings": 8192,
}  # fmt: skip
_DISTILBERT = {"activation": "gelu", "max_position_embeddings": 512}

FAMILIES = {
    "bert": Family("BERT", "bert", _read_bert, _BERT),
    "xlm-roberta": Family("XLM-R", "roberta", _read_roberta, _BERT),
    "camembert": Family("CamemBERT", "roberta", _read_roberta, _BERT),
    "roberta": Family("RoBERTa", "roberta", _read_roberta, _BERT),
    "distilbert": Family("DistilBERT", "distilbert", _read_distilbert, _DISTILBERT),
    "albert": Family("ALBERT", "albert", _read_albert, _BERT | {"embedding_size": 128, "hidden_act": "gelu_new"}),
    "electra": Family("ELECTRA", "electra", _read_electra, _BERT | {"embedding_size": 128}),
    "mt5": Family("mT5", "t5", _read_t5, _T5 | {"feed_forward_proj": "gated-gelu"}),
    "t5": Family("T5", "t5", _read_t5, _T5),
    "modernbert": Family("ModernBERT", "modernbert", _read_modernbert, _MODERNBERT),
}
"""By `model_type`."""
