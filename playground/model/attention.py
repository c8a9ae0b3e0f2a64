"""Multi-head attention, of a sequence to itself or to another (Vaswani et al. 2017, section 3.2), and its masks.

Masks are boolean, True = may attend; they are built once per pass, then only broadcast.

Legend: B sentences, T tokens, Tq/Tk queries/keys, H heads.
"""

import math
from functools import cached_property

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from playground.config import ModelConfig
from playground.errors import InputError
from playground.model.dropout import Dropout
from playground.model.init import Linear
from playground.model.trace import UNTRACED, Trace


class AttentionMask:
    """A mask as every layer of one pass reads it; what is derived from it is computed at most once.

    Args:
        allowed: bool, broadcast to (B, H, Tq, Tk), True = may attend; None hides nothing.
    """

    def __init__(self, allowed: Tensor | None = None) -> None:
        self.allowed = allowed

    @cached_property
    def hidden(self) -> Tensor | None:
        """The mask inverted, or None where it hides nothing."""
        return None if self.allowed is None or bool(self.allowed.all()) else ~self.allowed

    @cached_property
    def empty_queries(self) -> Tensor | None:
        """(B or 1, 1, Tq or 1, 1), True = a query that may attend to nothing; None where there is no such query."""
        if self.hidden is None:
            return None
        empty = self.hidden.all(dim=-1, keepdim=True)
        return empty if bool(empty.any()) else None


UNMASKED = AttentionMask()
"""Hides nothing: the default of every layer."""


def causal_mask(n_tokens: int, device: torch.device | None = None) -> Tensor:
    """No token looks ahead: (1, T, T), True on and below the diagonal (Vaswani et al. 2017, section 3.2.3)."""
    return torch.ones(1, n_tokens, n_tokens, dtype=torch.bool, device=device).tril()


def causal_and_padding(key_mask: Tensor) -> Tensor:
    """Neither ahead nor at padding: key_mask (B, T) → (B, T, T)."""
    return causal_mask(key_mask.shape[-1], key_mask.device) & key_mask[:, None, :]


def over_heads(mask: Tensor | None, n_sentences: int, n_queries: int, n_keys: int) -> Tensor | None:
    """Bring a mask to (B or 1, 1, Tq or 1, Tk), so that it broadcasts over heads.

    A mask (B, Tk) or (B or 1, 1, Tk) hides keys from every query, one of (B or 1, Tq, Tk) says who may look at whom,
    None hides nothing.

    Where there are as many sentences as tokens, a causal mask without its axis of sentences, (T, T), has the shape of
    one over keys too. So a 2-D mask in which each row shows its own place and nothing after it is refused there: it may
    also be the padding of sentences that have 1, 2, …, T tokens, and only the caller knows. Every other one is keys.

    Raises:
        InputError: the mask is not boolean, its shape fits no form, or it fits two as described.
    """
    if mask is None:
        return None
    if mask.dtype != torch.bool:
        raise InputError(f"A mask is boolean, True = may attend; this one is {mask.dtype}.")
    shape = tuple(mask.shape)
    if shape == (n_sentences, n_keys):
        if n_sentences == n_queries == n_keys > 1 and _hides_what_lies_ahead(mask):
            raise InputError(
                f"This mask of shape {shape} may say which of {n_keys} tokens each of {n_sentences} sentences has, or "
                "that no token looks ahead: pass mask[:, None] for the former, mask[None] for the latter."
            )
        return mask[:, None, None, :]
    if mask.ndim == 3 and shape[0] in (n_sentences, 1) and shape[1] in (n_queries, 1) and shape[2] == n_keys:
        return mask[:, None, :, :]
    raise InputError(
        f"A mask of shape {shape} fits neither keys ({n_sentences}, {n_keys}) "
        f"nor query-key pairs ({n_sentences} or 1, {n_queries}, {n_keys})."
    )


def _hides_what_lies_ahead(mask: Tensor) -> bool:
    """Whether (T, T) is True on the whole diagonal and False everywhere above it."""
    return bool(mask.diagonal().all()) and not bool(mask.triu(1).any())


def no_peek(mask: Tensor | None, n_sentences: int, n_tokens: int, device: torch.device | None = None) -> Tensor:
    """A target's mask over heads, (B or 1, 1, T, T): nobody looks ahead, unless the mask itself says who looks where.

    A mask (B, T) or (B, 1, T) hides keys on top of what lies ahead, one of (B or 1, T, T) is taken as it is; errors as
    `over_heads`.
    """
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
    """softmax(q kᵀ / √d_head) v (equation 1).

    Args:
        q: (B, H, Tq, d_head). k, v: (B, H, Tk, d_head).
        mask: who may attend to whom. A query that may attend to nothing gets zeros.
        dropout: what zeroes weights of the pattern.
        trace: notes `scores` and `pattern`; where neither it nor dropout does anything, torch's fused kernel computes
            this.

    Returns:
        (B, H, Tq, d_head)
    """
    dropping = dropout is not None and dropout.drops
    if not (trace.recording or dropping):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask.allowed)
    scores = (q / math.sqrt(q.shape[-1])) @ k.transpose(-2, -1)  # (B, H, Tq, Tk)
    if mask.hidden is not None:
        scores = scores.masked_fill_(mask.hidden, -math.inf)
    pattern = trace.record("scores", scores).softmax(dim=-1)  # (B, H, Tq, Tk)
    if mask.empty_queries is not None:
        # A row of −inf alone has no softmax; its weights, and their gradients, are zero.
        pattern = pattern.masked_fill(mask.empty_queries, 0.0)
    pattern = trace.record("pattern", pattern)
    return (pattern if dropout is None else dropout(pattern, trace, "weight_dropout")) @ v


class Attention(nn.Module):
    """Project to queries, keys and values, attend in every head, merge the heads, project back."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.n_heads, self.d_head = config.n_heads, config.d_head
        self.head_merge, self.fused = config.head_merge, config.fused_qkv
        if self.fused:
            self.qkv = Linear(config.d_model, 3 * config.d_model, parts=("q", "k", "v"), n_heads=config.n_heads)
        else:
            self.q = Linear(config.d_model, config.d_model)
            self.k = Linear(config.d_model, config.d_model)
            self.v = Linear(config.d_model, config.d_model)
        self.o = Linear(config.d_model, config.d_model)
        self.weight_dropout = Dropout(config.dropout, "attention")
        self.dropout = Dropout(config.dropout, "residual")

    def forward(
        self, x: Tensor, mask: AttentionMask = UNMASKED, trace: Trace = UNTRACED, memory: Tensor | None = None
    ) -> Tensor:
        """x (B, Tq, d_model) attends to memory (B, Tk, d_model), or itself → (B, Tq, d_model); mask as in `attend`."""
        q, k, v = self.project(trace.record("in", x), memory)
        q, k, v = trace.record("q", q), trace.record("k", k), trace.record("v", v)
        z = trace.record("z", attend(q, k, v, mask, self.weight_dropout, trace))
        return trace.record("out", self.dropout(self.o(self.merge(z)), trace))

    def project(self, x: Tensor, memory: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
        """x (B, Tq, d_model) → q (B, H, Tq, d_head); memory (B, Tk, d_model), x if None → k, v (B, H, Tk, d_head)."""
        if self.fused:
            q, k, v = self.heads(self.qkv(x), 3 * self.d_head).chunk(3, dim=-1)
            if memory is not None:
                _, k, v = self.heads(self.qkv(memory), 3 * self.d_head).chunk(3, dim=-1)
            return q, k, v
        source = x if memory is None else memory
        return self.heads(self.q(x)), self.heads(self.k(source)), self.heads(self.v(source))

    def heads(self, x: Tensor, width: int = -1) -> Tensor:
        """(B, T, H · width) → (B, H, T, width)."""
        return x.view(*x.shape[:2], self.n_heads, width).transpose(1, 2)

    def merge(self, z: Tensor) -> Tensor:
        """(B, H, T, d_head) → (B, T, d_model); `reshape` skips the transpose and so mixes positions."""
        B, H, T, d_head = z.shape  # noqa: N806
        if self.head_merge == "transpose":
            z = z.transpose(1, 2)  # (B, T, H, d_head)
        return z.reshape(B, T, H * d_head)


def maps_by_head(attention: Attention) -> dict[str, tuple[Tensor, Tensor]]:
    """Weights (H, d_head, d_model) and biases (H, d_head) of `q`, `k` and `v`: views, fused or not."""
    if attention.fused:
        qkv = attention.qkv
        weights, biases = qkv.part_rows(qkv.weight), qkv.part_rows(qkv.bias)
        return {name: (weights[name], biases[name]) for name in "qkv"}
    heads = (attention.n_heads, attention.d_head)
    maps = {"q": attention.q, "k": attention.k, "v": attention.v}
    return {name: (each.weight.view(*heads, -1), each.bias.view(heads)) for name, each in maps.items()}
