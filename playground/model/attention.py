"""Multi-head attention (Vaswani et al. 2017, section 3.2) and its masks: boolean, True = may attend.

Legend: B sentences, T tokens, Tq/Tk queries/keys, H heads.
"""

import math
from functools import cached_property

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from playground.config import ModelConfig
from playground.errors import InputError
from playground.model.init import Dropout, Linear
from playground.model.norms import RMSNorm
from playground.model.positions import rotate, window_mask
from playground.model.trace import UNTRACED, Trace


class AttentionMask:
    """Who may attend to whom, bool, broadcast to (B, H, Tq, Tk), and a bias (1, H, Tq, Tk)."""

    def __init__(self, allowed: Tensor | None = None, bias: Tensor | None = None) -> None:
        self.allowed, self.bias = allowed, bias

    def within(self, window: int, n_tokens: int, device: torch.device) -> "AttentionMask":
        """Return the mask of a layer with a window."""
        if not window or window // 2 >= n_tokens - 1:
            return self
        near = window_mask(n_tokens, window, device)[:, None]
        return AttentionMask(near if self.allowed is None else near & self.allowed, self.bias)

    @cached_property
    def hidden(self) -> Tensor | None:
        """The mask inverted; None if it hides nothing."""
        return None if self.allowed is None or bool(self.allowed.all()) else ~self.allowed

    @cached_property
    def empty_queries(self) -> Tensor | None:
        """(B or 1, 1, Tq or 1, 1), True = may attend to nothing; or None."""
        if self.hidden is None:
            return None
        empty = self.hidden.all(dim=-1, keepdim=True)
        return empty if bool(empty.any()) else None

    @cached_property
    def biased(self) -> Tensor | None:
        """(B or 1, H, Tq, Tk): the bias, −∞ at hidden keys."""
        if self.bias is None or self.hidden is None:
            return self.bias
        hidden = self.hidden if self.empty_queries is None else self.hidden & ~self.empty_queries
        return self.bias.masked_fill(hidden, -math.inf)


UNMASKED = AttentionMask()


def causal_mask(n_tokens: int, device: torch.device | None = None) -> Tensor:
    """No token looks ahead: (1, T, T) (Vaswani et al. 2017, section 3.2.3)."""
    return torch.ones(1, n_tokens, n_tokens, dtype=torch.bool, device=device).tril()


def causal_and_padding(key_mask: Tensor) -> Tensor:
    """Neither ahead nor at padding: key_mask (B, T) → (B, T, T)."""
    return causal_mask(key_mask.shape[-1], key_mask.device) & key_mask[:, None, :]


def over_heads(mask: Tensor | None, n_sentences: int, n_queries: int, n_keys: int) -> Tensor | None:
    """Bring a mask over keys, (B, Tk) or (B or 1, 1, Tk), or over pairs, (B or 1, Tq, Tk), to (B or 1, 1, Tq or 1, Tk).

    Raises:
        InputError: it is not boolean, fits no form, or is a (T, T) that may be keys or causal, as B = T.
    """
    if mask is None:
        return None
    if mask.dtype != torch.bool:
        raise InputError(f"A mask is boolean, True = may attend; this one is {mask.dtype}.")
    shape = tuple(mask.shape)
    if shape == (n_sentences, n_keys):
        if n_sentences == n_queries == n_keys > 1 and mask.diagonal().all() and not mask.triu(1).any():
            raise InputError(
                f"A mask of shape {shape} may be over keys or causal: pass mask[:, None] for the former, mask[None] "
                "for the latter."
            )
        return mask[:, None, None, :]
    if mask.ndim == 3 and shape[0] in (n_sentences, 1) and shape[1] in (n_queries, 1) and shape[2] == n_keys:
        return mask[:, None, :, :]
    raise InputError(
        f"A mask of shape {shape} fits neither keys ({n_sentences}, {n_keys}) "
        f"nor query-key pairs ({n_sentences} or 1, {n_queries}, {n_keys})."
    )


def decoder_mask(mask: Tensor | None, n_sentences: int, n_tokens: int, device: torch.device | None = None) -> Tensor:
    """Return a causal mask (1, 1, T, T) on top of keys (B, T) or (B, 1, T); (B or 1, T, T) replaces it."""
    given = over_heads(mask, n_sentences, n_tokens, n_tokens)
    ahead = causal_mask(n_tokens, device)[:, None]  # (1, 1, T, T)
    if given is None:
        return ahead
    return ahead & given if given.shape[2] == 1 else given


def attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: AttentionMask = UNMASKED,
    dropout: Dropout | None = None,
    trace: Trace = UNTRACED,
) -> Tensor:
    """softmax(q kᵀ / √d_head + bias) v (equation 1); a query that may attend to nothing gets zeros.

    q (B, H, Tq, d_head), k and v (B, H, Tk, d_head) → (B, H, Tq, d_head); q and k may be wider than v.
    Untraced, torch's fused kernel computes it.
    """
    root = math.sqrt(v.shape[-1])
    if not (trace.recording or (dropout is not None and dropout.drops)):
        added = mask.allowed if mask.bias is None else mask.biased
        z = F.scaled_dot_product_attention(q, k, v, attn_mask=added, scale=1 / root)
        return z if mask.bias is None or mask.empty_queries is None else z.masked_fill(mask.empty_queries, 0.0)
    scores = (q / root) @ k.transpose(-2, -1)  # (B, H, Tq, Tk)
    if mask.bias is not None:
        scores = scores + mask.bias
    if mask.hidden is not None:
        scores = scores.masked_fill_(mask.hidden, -math.inf)
    pattern = trace.record("scores", scores).softmax(dim=-1)  # (B, H, Tq, Tk)
    if mask.empty_queries is not None:
        # A row of −inf alone has no softmax; its weights, and their gradients, are zero.
        pattern = pattern.masked_fill(mask.empty_queries, 0.0)
    pattern = trace.record("pattern", pattern)
    return (pattern if dropout is None else dropout(pattern, trace, "weight_dropout")) @ v


class Attention(nn.Module):
    """Project, attend in every head, merge the heads, project back."""

    def __init__(self, config: ModelConfig, layer: int = 0) -> None:
        super().__init__()
        self.n_heads, self.kv_heads, self.d_head = config.n_heads, config.kv_heads, config.head_width
        self.head_merge, self.fused = config.head_merge, config.fused_qkv
        self.tied, self.qk_width = config.tied, config.qk_width
        width, kv_width = self.n_heads * self.d_head, self.kv_heads * self.d_head
        if self.fused:
            self.qkv = Linear(config.d_model, 3 * width, config.bias, d_head=self.d_head)
        else:
            self.q = Linear(config.d_model, self.n_heads * self.qk_width, config.bias)
            if self.tied == "separate":
                self.k = Linear(config.d_model, kv_width, config.bias)
            self.v = Linear(config.d_model, kv_width, config.bias)
        self.o = Linear(width, config.d_model, config.bias)
        self.q_norm = RMSNorm(self.d_head, config.norm_eps) if config.qk_norm else None
        self.k_norm = RMSNorm(self.d_head, config.norm_eps) if config.qk_norm else None
        self.rotary_base = config.rotary_base_of(layer) if config.positions == "rotary" else None
        self.weight_dropout = Dropout(config.dropout, "attention")
        self.dropout = Dropout(config.dropout, "residual")

    def forward(
        self, x: Tensor, mask: AttentionMask = UNMASKED, trace: Trace = UNTRACED, memory: Tensor | None = None
    ) -> Tensor:
        """x (B, Tq, d_model) attends to memory (B, Tk, d_model), or itself → (B, Tq, d_model)."""
        q, k, v = self.project(trace.record("in", x), memory)
        base = self.rotary_base if memory is None else None
        if base is not None or self.q_norm is not None:
            q, k = trace.record("q_projected", q), trace.record("k_projected", k)
        elif self.kv_heads < self.n_heads:
            k = trace.record("k_projected", k)
        if self.q_norm is not None and self.k_norm is not None:
            q, k = trace.record("q_normed", self.q_norm(q)), trace.record("k_normed", self.k_norm(k))
        if base is not None:
            q, k = rotate(q, base), rotate(k, base)
        if self.kv_heads < self.n_heads:
            k, v = self.for_every_head(k), self.for_every_head(trace.record("v_projected", v))
        q, k, v = trace.record("q", q), trace.record("k", k), trace.record("v", v)
        z = trace.record("z", attend(q, k, v, mask, self.weight_dropout, trace))
        return trace.record("out", self.dropout(self.o(self.merge(z)), trace))

    def project(self, x: Tensor, memory: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
        """q (B, H, Tq, qk_width) of x; k (B, kv_heads, Tk, qk_width), v (…, d_head) of memory, or x."""
        if self.fused:
            q, k, v = self.heads(self.qkv(x), 3 * self.d_head).chunk(3, dim=-1)
            if memory is not None:
                _, k, v = self.heads(self.qkv(memory), 3 * self.d_head).chunk(3, dim=-1)
            return q, k, v
        source = x if memory is None else memory
        q, v = self.heads(self.q(x), self.qk_width), self.heads(self.v(source))
        if self.tied == "merged":
            return q, source[:, None].expand(-1, self.n_heads, -1, -1), v
        if self.tied == "shared":
            return q, q if memory is None else self.heads(self.q(memory)), v
        return q, self.heads(self.k(source)), v

    def heads(self, x: Tensor, width: int = 0) -> Tensor:
        """(B, T, n · width) → (B, n, T, width)."""
        return x.view(*x.shape[:2], -1, width or self.d_head).transpose(1, 2)

    def for_every_head(self, x: Tensor) -> Tensor:
        """(B, kv_heads, T, d_head) → (B, H, T, d_head)."""
        return x.repeat_interleave(self.n_heads // self.kv_heads, dim=1)

    def merge(self, z: Tensor) -> Tensor:
        """(B, H, T, d_head) → (B, T, H · d_head); `reshape` skips the transpose and so mixes positions."""
        B, H, T, d_head = z.shape  # noqa: N806
        if self.head_merge == "transpose":
            z = z.transpose(1, 2)  # (B, T, H, d_head)
        return z.reshape(B, T, H * d_head)


def maps_by_head(attention: Attention) -> dict[str, tuple[Tensor, Tensor]]:
    """Return weights (H, d_head, d_model) and biases (H, d_head) of `q`, `k` and `v`.

    Merged, the map of `q` is a head's one map (H, d_model, d_model), that of `k` the identity.
    """
    found: dict[str, tuple[Tensor, Tensor]] = {}
    for i, name in enumerate("qkv"):
        if name == "k" and attention.tied == "shared":
            found["k"] = found["q"]
            continue
        if name == "k" and attention.tied == "merged":
            q, q_bias = found["q"]
            found["k"] = torch.eye(attention.qk_width).to(q).expand_as(q), torch.zeros_like(q_bias)
            continue
        linear: Linear = attention.qkv if attention.fused else getattr(attention, name)
        width = attention.d_head if name == "v" else attention.qk_width
        bias: Tensor = linear.weight.new_zeros(linear.out_features) if linear.bias is None else linear.bias
        n_parts, part = linear.n_parts, i if attention.fused else 0
        weight: Tensor = linear.weight.view(-1, n_parts, width, linear.in_features)[:, part]
        bias = bias.view(-1, n_parts, width)[:, part]
        copies = attention.n_heads // len(weight)
        if copies > 1:
            weight, bias = weight.repeat_interleave(copies, dim=0), bias.repeat_interleave(copies, dim=0)
        found[name] = weight, bias
    return found
