"""Independent second opinions: the same formulas in NumPy float64, in plain Python, and torch's own layers."""

import math
import re
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from playground import Encoder, ModelConfig
from playground.model.attention import Attention
from playground.model.encoder_decoder import Decoder

Array = NDArray[np.float64]
M = TypeVar("M", bound=nn.Module)


def small_config(**fields: Any) -> ModelConfig:
    """An architecture of a few thousand parameters; `fields` changes what a test is about."""
    sizes = {"vocab_size": 9, "d_model": 24, "n_heads": 3, "n_layers": 2, "d_ff": 40, "max_len": 8}
    return ModelConfig(**sizes | fields)


def float64(tensor: Tensor) -> Array:
    """The tensor's numbers as a NumPy array."""
    return tensor.detach().double().numpy()


def scramble(model: M, seed: int = 1) -> M:
    """Move every parameter off its initial value, so that no bias is 0 and no gain is 1."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.2 * torch.randn(parameter.shape, generator=generator))
    return model


def vectors(*shape: int, seed: int = 2) -> Tensor:
    """Standard normal numbers."""
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def sinusoid(position: int, column: int, d_model: int, *, doubled: bool) -> float:
    """One entry of the position table, as Vaswani et al. 2017, section 3.5 write it."""
    pair = column // 2
    frequency = 1 / math.pow(10_000, 2 * pair / d_model)
    angle = position * (frequency**2 if doubled else frequency)
    return math.cos(angle) if column % 2 else math.sin(angle)


def scalar_norm(x: Array, gain: float, bias: float, eps: float) -> Array:
    """Tutorial A's norm: the unbiased deviation, with eps added to it."""
    mean = x.mean(axis=-1, keepdims=True)
    deviation = x.std(axis=-1, ddof=1, keepdims=True)
    normed: Array = gain * (x - mean) / (deviation + eps) + bias
    return normed


def masked_softmax(scores: Array, mask: NDArray[np.bool_]) -> Array:
    """Softmax over the last axis where the mask is True; a row that is all False gives zeros."""
    largest = np.where(mask, scores, -1e300).max(axis=-1, keepdims=True)
    weights = np.where(mask, np.exp(np.where(mask, scores - largest, 0.0)), 0.0)
    totals = weights.sum(axis=-1, keepdims=True)
    pattern: Array = np.divide(weights, totals, out=np.zeros_like(weights), where=totals > 0)
    return pattern


def split_projections(attention: Attention) -> tuple[dict[str, Array], dict[str, Array]]:
    """Q, K and V by name: weights (head, d_head, d_model) and biases (head, d_head), fused or not."""
    heads, width = attention.n_heads, attention.d_head
    if attention.fused:
        weight = float64(attention.qkv.weight).reshape(heads, 3, width, -1)
        bias = float64(attention.qkv.bias).reshape(heads, 3, width)
        return {p: weight[:, i] for i, p in enumerate("qkv")}, {p: bias[:, i] for i, p in enumerate("qkv")}
    maps = {"q": attention.q, "k": attention.k, "v": attention.v}
    weights = {p: float64(linear.weight).reshape(heads, width, -1) for p, linear in maps.items()}
    return weights, {p: float64(linear.bias).reshape(heads, width) for p, linear in maps.items()}


def attention_float64(
    attention: Attention, x: Array, mask: NDArray[np.bool_], memory: Array | None = None
) -> tuple[Array, Array]:
    """Multi-head attention, index by index.

    Args:
        attention: whose weights to use.
        x: (B, Tq, d_model).
        mask: broadcasts to (B, H, Tq, Tk), True = may attend.
        memory: (B, Tk, d_model), where keys and values come from; None is x.

    Returns:
        the output (B, Tq, d_model) and the pattern (B, H, Tq, Tk).
    """
    weights, biases = split_projections(attention)
    sources = {"q": x, "k": x if memory is None else memory, "v": x if memory is None else memory}
    q, k, v = (np.einsum("btm,hdm->bhtd", sources[p], weights[p]) + biases[p][:, None, :] for p in "qkv")
    scores = np.einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(attention.d_head)
    pattern = masked_softmax(scores, np.broadcast_to(mask, scores.shape))
    z = np.einsum("bhqk,bhkd->bhqd", pattern, v)
    merged = z.reshape(x.shape) if attention.head_merge == "reshape" else np.einsum("bhtd->bthd", z).reshape(x.shape)
    return np.einsum("btm,nm->btn", merged, float64(attention.o.weight)) + float64(attention.o.bias), pattern


def torch_sizes(config: ModelConfig) -> dict[str, Any]:
    """The arguments that make torch's encoder or decoder layer of this config's shape."""
    return {
        "d_model": config.d_model,
        "nhead": config.n_heads,
        "dim_feedforward": config.d_ff,
        "dropout": config.dropout,
        "activation": config.activation,
        "layer_norm_eps": config.norm_eps,
        "batch_first": True,
        "norm_first": config.norm_placement == "pre",
    }


def torch_layer(config: ModelConfig) -> nn.TransformerEncoderLayer:
    """torch's encoder layer of this config's shape."""
    return nn.TransformerEncoderLayer(**torch_sizes(config))


def torch_stack(model: Encoder | Decoder) -> nn.Module:
    """torch's own encoder or decoder, without embeddings, with this model's weights and type, in eval mode."""
    config = model.config
    norm = nn.LayerNorm(config.d_model, eps=config.norm_eps) if config.final_norm else None
    theirs: nn.Module
    if isinstance(model, Decoder):
        theirs = nn.TransformerDecoder(nn.TransformerDecoderLayer(**torch_sizes(config)), config.n_layers, norm)
    else:
        theirs = nn.TransformerEncoder(torch_layer(config), config.n_layers, norm, enable_nested_tensor=False)
    theirs.to(next(model.parameters()).dtype).load_state_dict(torch_names(model.state_dict()))
    return theirs.eval()


SPELLINGS = {
    r"\battn\.": "self_attn.",
    r"\bcross_attn\.": "multihead_attn.",
    r"\bq\.": "in_proj_",
    r"\bo\.": "out_proj.",
    r"\bffn\.up\.": "linear1.",
    r"\bffn\.down\.": "linear2.",
    r"\bfinal_norm\.": "norm.",
    r"\bgain$": "weight",
}


def torch_names(ours: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The blocks' and the final norm's weights, or gradients, under the names that torch gives them."""
    theirs: dict[str, Tensor] = {}
    for name, tensor in ours.items():
        if name.startswith("embed.") or ".k." in name or ".v." in name:
            continue
        if ".q." in name:  # theirs has queries, keys and values one below the other
            tensor = torch.cat([ours[name.replace(".q.", f".{part}.")] for part in "qkv"])
        for pattern, spelling in SPELLINGS.items():
            name = re.sub(pattern, spelling, name)
        theirs[name] = tensor
    return theirs
