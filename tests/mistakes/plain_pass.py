"""An encoder in plain torch, which shares no code with the model, and can make every mistake of the registry.

It is written as the tutorials write theirs: one function from ids to a dictionary of all intermediates.
"""

import math
from collections.abc import Collection, Mapping

import torch
from torch import Tensor
from torch.nn import functional as F

from playground.config import ModelConfig


def position_table(config: ModelConfig, n: int, made: Collection[str]) -> Tensor:
    """What is added to n tokens."""
    if "positions-not-added" in made:
        return torch.zeros(n, config.d_model)
    if "integer-positions" in made:
        return torch.arange(n).float()[:, None].repeat(1, config.d_model)
    table = torch.zeros(n, config.d_model)
    for position in range(n):
        for i in range(0, config.d_model, 2):
            exponent = 2 * i if "doubled-exponent" in made else i
            angle = position / 10_000 ** (exponent / config.d_model)
            table[position, i], table[position, i + 1] = math.sin(angle), math.cos(angle)
    return table


def allowed_pairs(mask: Tensor | None, shape: tuple[int, int], made: Collection[str]) -> Tensor:
    """(B, T, T), True where a query may attend to a key."""
    B, T = shape  # noqa: N806
    if mask is None or "mask-forgotten" in made:
        return torch.ones(B, T, T, dtype=torch.bool)
    is_causal = mask.ndim == 3
    keys = mask[:, -1, :] if is_causal else mask  # the last query sees every key but padding
    ahead = torch.ones(T, T).tril(1 if "no-peek-off-by-one" in made else 0).bool()
    base = ahead if is_causal else torch.ones(T, T, dtype=torch.bool)
    allowed = base & (keys[:, :, None] if "masked-query-rows" in made else keys[:, None, :])
    return ~allowed if "mask-inverted" in made else allowed


def plain_pass(
    weights: Mapping[str, Tensor],
    config: ModelConfig,
    ids: Tensor,
    mask: Tensor | None = None,
    made: Collection[str] = (),
    dtype: torch.dtype = torch.float32,
) -> dict[str, Tensor]:
    """Every intermediate by its name in a trace, with these mistakes made."""
    w = {name: tensor.to(dtype) for name, tensor in weights.items()}
    found: dict[str, Tensor] = {}
    B, T = ids.shape  # noqa: N806
    H, d_head = config.n_heads, config.d_model // config.n_heads  # noqa: N806
    pre = (config.norm_placement == "pre") != ("norm-order-swapped" in made)

    def note(name: str, tensor: Tensor) -> Tensor:
        found[name] = tensor
        return tensor

    def normalise(name: str, x: Tensor, key: str) -> Tensor:
        note(f"{name}.in", x)
        divisor = config.d_model - 1 if "unbiased-variance" in made else config.d_model
        centred = x - x.mean(-1, keepdim=True)
        variance = centred.pow(2).sum(-1, keepdim=True) / divisor
        if "eps-outside-root" in made:
            note(f"{name}.normalized", centred / (variance.sqrt() + config.norm_eps))
        else:
            note(f"{name}.normalized", centred / (variance + config.norm_eps).sqrt())
        return note(f"{name}.out", found[f"{name}.normalized"] * w[f"{key}.gain"] + w[f"{key}.bias"])

    def cut(x: Tensor) -> Tensor:
        if "split-without-transpose" in made:
            return x.reshape(B, H, T, d_head)
        return torch.stack([x[..., h * d_head : (h + 1) * d_head] for h in range(H)], dim=1)

    def linear(x: Tensor, key: str) -> Tensor:
        return torch.einsum("bti,oi->bto", x, w[f"{key}.weight"]) + w[f"{key}.bias"]

    x = w["embed.tokens.weight"][ids]
    if config.scale_embeddings and "no-embedding-scale" not in made:
        x = x * math.sqrt(config.d_model)
    note("embed.tokens", x)
    x = note("embed.sum", x + position_table(config, T, made).to(dtype))
    note("embed.out", x)
    allowed = allowed_pairs(mask, (B, T), made)[:, None].expand(B, H, T, T)

    def attention(x: Tensor, name: str, key: str) -> Tensor:
        note(f"{name}.in", x)
        q, k, v = (note(f"{name}.{part}", cut(linear(x, f"{key}.{part}"))) for part in "qkv")
        scale = {"no-score-scale": 1.0, "scale-by-d-model": math.sqrt(config.d_model)}
        divisor = next((scale[each] for each in scale if each in made), math.sqrt(d_head))
        scores = torch.einsum("bhid,bhjd->bhij", *((k, q) if "query-key-swapped" in made else (q, k))) / divisor
        afterwards = "mask-after-softmax" in made
        if not afterwards:
            scores = torch.where(allowed, scores, torch.tensor(-1e9, dtype=dtype))
        note(f"{name}.scores", scores)
        axis = -2 if "softmax-over-queries" in made else -1
        powers = (scores - scores.max(dim=axis, keepdim=True).values).exp()
        pattern = powers / powers.sum(dim=axis, keepdim=True)
        if afterwards:
            pattern = torch.where(allowed, pattern, torch.tensor(0.0, dtype=dtype))
        z = note(f"{name}.z", torch.einsum("bhij,bhjd->bhid", note(f"{name}.pattern", pattern), v))
        if "merge-without-transpose" in made:
            merged = z.reshape(B, T, config.d_model)
        else:
            merged = torch.cat([z[:, h] for h in range(H)], dim=-1)
        return note(f"{name}.out", linear(merged, f"{key}.o"))

    def feed_forward(x: Tensor, name: str, key: str) -> Tensor:
        up = note(f"{name}.up", linear(note(f"{name}.in", x), f"{key}.up"))
        relu = (config.activation == "relu") != ("relu-for-gelu" in made)
        hidden = up if "activation-forgotten" in made else up.clamp(min=0) if relu else F.gelu(up)
        return note(f"{name}.out", linear(note(f"{name}.hidden", hidden), f"{key}.down"))

    for i in range(config.n_layers):
        key = f"layers.{0 if 'shared-layers' in made else i}"
        for sublayer, f, norm, total in (
            ("attn", attention, "norm1", "resid_mid"),
            ("ffn", feed_forward, "norm2", "resid_post"),
        ):
            read = x
            if pre:
                read = normalise(f"layers.{i}.{norm}", x, f"{key}.{norm}")
                x = read if "residual-from-normed" in made else x
            out = f(read, f"layers.{i}.{sublayer}", f"{key}.{sublayer}")
            x = note(f"layers.{i}.{total}", out if "residual-forgotten" in made else x + out)
            if not pre:
                x = normalise(f"layers.{i}.{norm}", x, f"{key}.{norm}")
        note(f"layers.{i}.out", x)
    note("final", x)
    return found
