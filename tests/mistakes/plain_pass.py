"""An encoder in plain torch, which shares no code with the model, and can make every mistake of the registry.

It is written as the tutorials write theirs: one function from ids to a dictionary of all intermediates.
"""

import math
from collections.abc import Collection, Mapping

import torch
from torch import Tensor

from playground.config import ModelConfig


def position_table(config: ModelConfig, n: int, made: Collection[str]) -> Tensor:
    """What is added to n tokens."""
    if "positions-not-added" in made:
        return torch.zeros(n, config.d_model)
    if "integer-positions" in made:
        return torch.arange(n).float()[:, None].repeat(1, config.d_model)
    table = torch.zeros(n, config.d_model)
    first = 1 if "positions-from-one" in made else 0
    for position in range(n):
        for i in range(0, config.d_model, 2):
            exponent = 2 * i if "doubled-exponent" in made else i
            own = exponent + 1 if "exponent-per-column" in made else exponent
            angle, beside = ((position + first) / 10_000 ** (each / config.d_model) for each in (exponent, own))
            columns = (i // 2, (config.d_model + i) // 2) if "sinusoids-in-halves" in made else (i, i + 1)
            table[position, columns[0]], table[position, columns[1]] = math.sin(angle), math.cos(beside)
    return 2 * table if "positions-twice" in made else table


def allowed_pairs(mask: Tensor | None, shape: tuple[int, int], made: Collection[str]) -> Tensor:
    """(B, T, T), True where a query may attend to a key."""
    B, T = shape  # noqa: N806
    if mask is None:
        mask = torch.ones(B, T, dtype=torch.bool)
    if "mask-forgotten" in made:
        return torch.ones(B, T, T, dtype=torch.bool)
    is_causal = mask.ndim == 3 or "causal-mask-left" in made
    keys = mask[:, -1, :] if mask.ndim == 3 else mask  # the last query sees every key but padding
    diagonal = {"no-peek-off-by-one": 1, "hides-itself": -1}
    ahead = torch.ones(T, T).tril(sum(diagonal[each] for each in made if each in diagonal)).bool()
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
    fill: float = -1e9,
) -> dict[str, Tensor]:
    """Every intermediate by its name in a trace, with these mistakes made; `fill` stands where scores are masked.

    Where attention runs over the batch, scores and weights have no place in a trace and are left out.
    """
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
        axis = 1 if "norm-over-sequence" in made else -1
        divisor = x.shape[axis] - (1 if "unbiased-variance" in made else 0)
        centred = x - x.mean(axis, keepdim=True)
        variance = centred.pow(2).sum(axis, keepdim=True) / divisor
        eps = config.norm_eps if "other-eps" not in made else 1e-12 if config.norm_eps >= 1e-5 else 1e-5
        if "eps-outside-root" in made:
            note(f"{name}.normalized", centred / (variance.sqrt() + eps))
        elif "root-of-deviation" in made:
            note(f"{name}.normalized", centred / (variance.sqrt() + eps).sqrt())
        else:
            note(f"{name}.normalized", centred / (variance + eps).sqrt())
        return note(f"{name}.out", found[f"{name}.normalized"] * w[f"{key}.gain"] + w[f"{key}.bias"])

    def cut(x: Tensor) -> Tensor:
        if "split-without-transpose" in made:
            return x.reshape(x.shape[0], H, x.shape[1], d_head)
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
        over_batch = "axes-exchanged" in made
        x = x.transpose(0, 1) if over_batch else x
        weights_of = {"q": "k", "k": "q"} if "query-key-weights-swapped" in made else {}
        q, k, v = (cut(linear(x, f"{key}.{weights_of.get(part, part)}")) for part in "qkv")
        scale = {"no-score-scale": 1.0, "scale-by-d-model": math.sqrt(config.d_model)}
        divisor = next((scale[each] for each in scale if each in made), math.sqrt(d_head))
        scores = torch.einsum("bhid,bhjd->bhij", *((k, q) if "query-key-swapped" in made else (q, k))) / divisor
        afterwards = "mask-after-softmax" in made
        if "float-mask-added" in made:
            scores = scores + allowed.to(dtype)
        elif not (afterwards or over_batch):
            scores = torch.where(allowed, scores, torch.tensor(fill, dtype=dtype))
        axis = -2 if "softmax-over-queries" in made else -1
        powers = (scores - scores.max(dim=axis, keepdim=True).values).exp()
        pattern = powers / powers.sum(dim=axis, keepdim=True)
        if afterwards:
            pattern = torch.where(allowed, pattern, torch.tensor(0.0, dtype=dtype))
        z = torch.einsum("bhij,bhjd->bhid", pattern, v)
        for part, tensor in {"q": q, "k": k, "v": v, "scores": scores, "pattern": pattern, "z": z}.items():
            if not over_batch:
                note(f"{name}.{part}", tensor)
            elif part in "qkvz":
                note(f"{name}.{part}", tensor.transpose(0, 2))
        if "merge-without-transpose" in made:
            merged = z.reshape(x.shape)
        else:
            merged = torch.cat([z[:, h] for h in range(H)], dim=-1)
        out = merged if "output-projection-forgotten" in made else linear(merged, f"{key}.o")
        return note(f"{name}.out", out.transpose(0, 1) if over_batch else out)

    def feed_forward(x: Tensor, name: str, key: str) -> Tensor:
        up = note(f"{name}.up", linear(note(f"{name}.in", x), f"{key}.up"))
        is_relu = (config.activation == "relu") != ("relu-for-gelu" in made)
        by_tanh = (config.activation == "gelu-tanh") != ("gelu-by-tanh" in made)
        inner = math.sqrt(2 / math.pi) * (up + 0.044715 * up**3)
        gelu = 0.5 * up * (1 + (inner.tanh() if by_tanh else (up / math.sqrt(2)).erf()))
        hidden = up if "activation-forgotten" in made else up.clamp(min=0) if is_relu else gelu
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
