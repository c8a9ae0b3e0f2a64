"""Independent second opinions: the same formulas in NumPy float64, in plain Python, and torch's own layers."""

import math
from collections.abc import Mapping
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from playground import Encoder, ModelConfig
from playground.model.attention import Attention

Array = NDArray[np.float64]
M = TypeVar("M", bound=nn.Module)


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


def attention_float64(attention: Attention, x: Array, mask: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Multi-head attention, index by index.

    Args:
        attention: whose weights to use.
        x: (B, T, d_model).
        mask: broadcasts to (B, H, Tq, Tk), True = may attend.

    Returns:
        the output (B, T, d_model) and the pattern (B, H, Tq, Tk).
    """
    weights, biases = split_projections(attention)
    q, k, v = (np.einsum("btm,hdm->bhtd", x, weights[p]) + biases[p][:, None, :] for p in "qkv")
    scores = np.einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(attention.d_head)
    pattern = masked_softmax(scores, np.broadcast_to(mask, scores.shape))
    z = np.einsum("bhqk,bhkd->bhqd", pattern, v)
    merged = z.reshape(x.shape) if attention.head_merge == "reshape" else np.einsum("bhtd->bthd", z).reshape(x.shape)
    return np.einsum("btm,nm->btn", merged, float64(attention.o.weight)) + float64(attention.o.bias), pattern


def torch_encoder(model: Encoder) -> nn.TransformerEncoder:
    """torch's own encoder with this model's weights, in eval mode; layer norm, relu or gelu, no embedding."""
    config = model.config
    theirs = nn.TransformerEncoder(torch_layer(config), config.n_layers, enable_nested_tensor=False)
    if config.final_norm:
        theirs.norm = nn.LayerNorm(config.d_model, eps=config.norm_eps)
    theirs.load_state_dict(torch_names(config, model.state_dict()))
    return theirs.eval()


def torch_layer(config: ModelConfig) -> nn.TransformerEncoderLayer:
    """torch's encoder layer of this config's shape."""
    return nn.TransformerEncoderLayer(
        config.d_model,
        config.n_heads,
        dim_feedforward=config.d_ff,
        dropout=config.dropout,
        activation=config.activation,
        layer_norm_eps=config.norm_eps,
        batch_first=True,
        norm_first=config.norm_placement == "pre",
    )


def torch_names(config: ModelConfig, ours: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The blocks' weights and the final norm's, under the names that torch's encoder gives them."""
    theirs: dict[str, Tensor] = {}
    for i in range(config.n_layers):
        layer = f"layers.{i}"
        for kind in ("weight", "bias"):
            theirs[f"{layer}.self_attn.in_proj_{kind}"] = torch.cat([ours[f"{layer}.attn.{p}.{kind}"] for p in "qkv"])
            theirs[f"{layer}.self_attn.out_proj.{kind}"] = ours[f"{layer}.attn.o.{kind}"]
            theirs[f"{layer}.linear1.{kind}"] = ours[f"{layer}.ffn.up.{kind}"]
            theirs[f"{layer}.linear2.{kind}"] = ours[f"{layer}.ffn.down.{kind}"]
        for norm in ("norm1", "norm2"):
            theirs[f"{layer}.{norm}.weight"] = ours[f"{layer}.{norm}.gain"]
            theirs[f"{layer}.{norm}.bias"] = ours[f"{layer}.{norm}.bias"]
    if config.final_norm:
        theirs["norm.weight"], theirs["norm.bias"] = ours["final_norm.gain"], ours["final_norm.bias"]
    return theirs


def torch_decoder_layer(config: ModelConfig, ours: Mapping[str, Tensor]) -> nn.TransformerDecoderLayer:
    """torch's decoder layer with a block's weights, in eval mode."""
    theirs = nn.TransformerDecoderLayer(
        config.d_model,
        config.n_heads,
        dim_feedforward=config.d_ff,
        activation=config.activation,
        layer_norm_eps=config.norm_eps,
        batch_first=True,
        norm_first=config.norm_placement == "pre",
    )
    state: dict[str, Tensor] = {}
    for kind in ("weight", "bias"):
        for name, attention in (("self_attn", "self_attn"), ("multihead_attn", "cross_attn")):
            state[f"{name}.in_proj_{kind}"] = torch.cat([ours[f"{attention}.{p}.{kind}"] for p in "qkv"])
            state[f"{name}.out_proj.{kind}"] = ours[f"{attention}.o.{kind}"]
        state[f"linear1.{kind}"], state[f"linear2.{kind}"] = ours[f"ffn.up.{kind}"], ours[f"ffn.down.{kind}"]
    for n in (1, 2, 3):
        state[f"norm{n}.weight"], state[f"norm{n}.bias"] = ours[f"norm{n}.gain"], ours[f"norm{n}.bias"]
    theirs.load_state_dict(state)
    return theirs.eval()
