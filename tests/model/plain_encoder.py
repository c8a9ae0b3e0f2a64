"""Every architecture once more: loops over tokens and heads in plain torch, from a model's weights by their names."""

import math
from collections.abc import Callable, Mapping

import torch
import torch.nn.functional as F
from torch import Tensor

from playground import Encoder, ModelConfig

ByHand = Callable[[Tensor], Tensor]
Changes = Mapping[str, ByHand]
"""What is done to the tensors of a sentence, without its axis, by their names in a trace; queries before they turn."""


def encode(
    model: Encoder, ids: Tensor, may_attend: Tensor, keys: Tensor | None = None, changes: Changes | None = None
) -> tuple[Tensor, list[Tensor]]:
    """What leaves the encoder, (B, T, d_model), and every layer's pattern, (B, H, T, T).

    `may_attend` is (B, 1, T, T); `keys` (B, T) says where padding stands, where the mask was given so.
    """
    changes = changes or {}
    config, weights = model.config, {name: tensor.detach() for name, tensor in model.state_dict().items()}
    outputs, patterns = [], []
    for b in range(len(ids)):
        real = torch.ones_like(ids[b], dtype=torch.bool) if keys is None else keys[b]
        x = embed(config, weights, ids[b], real, changes, skips=keys is not None)
        found = []
        for i in range(config.n_layers):
            block = {name.removeprefix(f"layers.{i}."): w for name, w in weights.items() if f"layers.{i}." in name}
            own = {name.removeprefix(f"layers.{i}."): f for name, f in changes.items() if f"layers.{i}." in name}
            x, pattern = apply_block(config, block, i, x, (may_attend[b, 0], weights.get("relative.weight"), own))
            found.append(pattern)
        outputs.append(norm(config, weights, "final_norm", x) if config.final_norm else x)
        patterns.append(torch.stack(found))
    return torch.stack(outputs), list(torch.stack(patterns).transpose(0, 1))


def change(changes: Changes, name: str, x: Tensor) -> Tensor:
    return changes[name](x) if name in changes else x


def embed(
    config: ModelConfig, weights: dict[str, Tensor], ids: Tensor, real: Tensor, changes: Changes, *, skips: bool
) -> Tensor:
    x = weights["embed.tokens.weight"][ids]
    width = x.shape[1]  # concatenated, positions are as wide as tokens
    if config.scale_embeddings:
        x = x * math.sqrt(config.d_model)
    rows, place = torch.zeros_like(x), 0
    for t in range(len(ids)):
        if config.positions == "learned":
            row = t + config.position_offset
            if config.position_offset and skips:
                place += int(real[t])
                row = config.position_offset - 1 + (place if real[t] else 0)
            rows[t] = weights["embed.positions.weight"][row]
        elif config.positions.startswith("sinusoidal"):
            for j in range(width):
                exponent = 2 * (j // 2) / width * (2 if config.positions.endswith("doubled") else 1)
                angle = t / 10_000**exponent
                rows[t, j] = float(torch.tensor(math.cos(angle) if j % 2 else math.sin(angle)).float())
    x = torch.cat([x, rows], dim=1) if config.position_join == "concatenate" else x + rows
    if config.n_segments:
        x = x + weights["embed.segments.weight"][0]
    x = change(changes, "embed.sum", x)
    if config.embedding_norm:
        x = norm(config, weights, "embed.norm", x)
    return change(changes, "embed.out", linear(weights, "embed.project", x) if config.d_embedding else x)


def linear(weights: dict[str, Tensor], name: str, x: Tensor) -> Tensor:
    y = x @ weights[f"{name}.weight"].T
    return y + weights[f"{name}.bias"] if f"{name}.bias" in weights else y


def norm(config: ModelConfig, weights: dict[str, Tensor], name: str, x: Tensor) -> Tensor:
    if f"{name}.gain" not in weights:
        return x
    if config.norm == "rms":
        y = x / (x.pow(2).mean(-1, keepdim=True) + config.norm_eps).sqrt()
    elif config.norm == "scalar":
        y = (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + config.norm_eps)
    else:
        y = (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True, correction=0) + config.norm_eps).sqrt()
    return y * weights[f"{name}.gain"] + weights.get(f"{name}.bias", 0)


Around = tuple[Tensor, Tensor | None, Changes]
"""Who may attend to whom, (T, T); what distances add; changes in the block."""


def apply_block(
    config: ModelConfig, block: dict[str, Tensor], i: int, x: Tensor, around: Around
) -> tuple[Tensor, Tensor]:
    """A block's output (T, d_model) and pattern (H, T, T)."""
    pattern, changes = None, around[2]
    for n in (1, 2):
        read = x if config.norm_placement == "post" else norm(config, block, f"norm{n}", x)
        if n == 1:
            wrote, pattern = attend(config, block, i, read, around)
        else:
            hidden = activate(config, linear(block, "ffn.up", read))
            wrote = linear(block, "ffn.down", hidden * linear(block, "ffn.gate", read) if config.gated else hidden)
        wrote = change(changes, "attn.out" if n == 1 else "ffn.out", wrote)
        if config.norm_placement == "both":
            wrote = norm(config, block, f"post_norm{n}", wrote)
        x = change(changes, "resid_mid" if n == 1 else "resid_post", x + wrote if config.residual else wrote)
        x = norm(config, block, f"norm{n}", x) if config.norm_placement == "post" else x
    assert pattern is not None
    return change(changes, "out", x), pattern


def activate(config: ModelConfig, x: Tensor) -> Tensor:
    if config.activation == "relu":
        return x.clamp(min=0)
    if config.activation == "silu":
        return x / (1 + (-x).exp())
    if config.activation == "gelu":
        return x * 0.5 * (1 + (x / math.sqrt(2)).erf())
    return 0.5 * x * (1 + (math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)).tanh())


def attend(config: ModelConfig, block: dict[str, Tensor], i: int, x: Tensor, around: Around) -> tuple[Tensor, Tensor]:
    allowed, table, changes = around
    T, H = len(x), config.n_heads  # noqa: N806
    width, groups = config.d_head or config.d_model // H, config.n_kv_heads or H
    parts = zip("qkv", projections(config, block, x, H, groups, width), strict=True)
    q, k, v = (change(changes, f"attn.{name}", torch.stack(part)) for name, part in parts)
    is_local = config.window > 0 and (config.global_every == 0 or i % config.global_every != 0)
    has_own = is_local and config.local_rotary_base > 0 and not config.share_layers
    base = config.local_rotary_base if has_own else config.rotary_base
    scores, pattern = torch.full((H, T, T), -math.inf, dtype=x.dtype), torch.zeros(H, T, T, dtype=x.dtype)
    for h in range(H):
        g = h * groups // H
        for s in range(T):
            for t in range(T):
                if not allowed[s, t] or (is_local and abs(s - t) > config.window / 2):
                    continue
                query, key = q[h][s], k[g][t]
                if config.qk_norm:
                    query = F.rms_norm(query, (width,), block["attn.q_norm.gain"], config.norm_eps)
                    key = F.rms_norm(key, (width,), block["attn.k_norm.gain"], config.norm_eps)
                if config.positions == "rotary":
                    query, key = turn(query, s, base), turn(key, t, base)
                scores[h, s, t] = query @ key / math.sqrt(width)
                if config.positions == "alibi":
                    scores[h, s, t] -= slope(h, H) * abs(s - t)
                if table is not None:
                    scores[h, s, t] += table[bucket(t - s, config.relative_buckets, config.relative_distance), h]
    scores = change(changes, "attn.scores", scores)
    some = ~scores.isneginf().all(-1)
    pattern[some] = scores[some].softmax(-1)
    pattern = change(changes, "attn.pattern", pattern)
    z = change(changes, "attn.z", torch.stack([pattern[h] @ v[h * groups // H] for h in range(H)]))
    merged = z.reshape(T, H * width) if config.head_merge == "reshape" else torch.cat(list(z), dim=-1)
    return linear(block, "attn.o", merged), pattern


def projections(
    config: ModelConfig, block: dict[str, Tensor], x: Tensor, n_heads: int, groups: int, width: int
) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
    """By head, queries, keys and values, each (T, width)."""
    if config.fused_qkv:
        pieces = torch.split(linear(block, "attn.qkv", x), width, dim=-1)
        return list(pieces[0::3]), list(pieces[1::3]), list(pieces[2::3])
    v = list(torch.split(linear(block, "attn.v", x), width, dim=-1))
    if config.tied == "merged":
        maps = block["attn.q.weight"].reshape(n_heads, config.d_model, config.d_model)
        biases = block.get("attn.q.bias", torch.zeros(n_heads * config.d_model)).reshape(n_heads, config.d_model)
        return [x @ m.T + b for m, b in zip(maps, biases, strict=True)], [x] * n_heads, v
    q, k = (
        list(torch.split(linear(block, name, x), width, dim=-1))
        for name in ("attn.q", "attn.q" if config.tied == "shared" else "attn.k")
    )
    assert (len(q), len(k), len(v)) == (n_heads, groups, groups)
    return q, k, v


def turn(x: Tensor, place: int, base: int) -> Tensor:
    """As multiplication of complex numbers: feature j and feature j + width / 2 are one."""
    half = len(x) // 2
    angles = torch.tensor([place / base ** (j / half) for j in range(half)], dtype=torch.float64)
    turned = torch.complex(x[:half].double(), x[half:].double()) * torch.polar(torch.ones_like(angles), angles)
    return torch.cat([turned.real, turned.imag]).to(x.dtype)


def slope(head: int, n_heads: int) -> float:
    """As Press et al. describe it: powers of 2^(−8/n), and between them where n is no power of two."""

    def powers(n: int) -> list[float]:
        first = 2 ** (-(2 ** -(math.log2(n) - 3)))
        return [first * first**j for j in range(n)]

    if math.log2(n_heads).is_integer():
        return powers(n_heads)[head]
    closest = 2 ** math.floor(math.log2(n_heads))
    return (powers(closest) + powers(2 * closest)[0::2])[head]


def bucket(distance: int, n_buckets: int, farthest: int) -> int:
    """Of a distance key − query, by comparing with each bucket's first distance."""
    half, exact = n_buckets // 2, n_buckets // 4
    size, at = abs(distance), abs(distance)
    if size >= exact:
        at = max(j for j in range(exact, half) if size >= exact * (farthest / exact) ** ((j - exact) / (half - exact)))
    return at + (half if distance > 0 else 0)
