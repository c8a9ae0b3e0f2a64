"""Boolean masks: True = may attend. Built once per pass, then only broadcast."""

from functools import cached_property

import torch
from torch import Tensor

from playground.errors import InputError


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
