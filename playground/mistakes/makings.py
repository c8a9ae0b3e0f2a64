"""How the model's own pass makes each mistake, and in which models each can be made."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from playground.config import ModelConfig
from playground.mistakes.edits import (
    EditedTrace,
    Scores,
    change_embeddings,
    change_feed_forward,
    change_norms,
    copy_module,
    device_of,
)
from playground.model import Encoder
from playground.model.attention import Attention
from playground.model.blocks import ACTIVATIONS, Transform
from playground.model.encoder import Embeddings
from playground.model.encoder_decoder import EncoderDecoder
from playground.model.norms import LayerNorm, scale
from playground.model.positions import frequencies
from playground.model.trace import UNTRACED, Trace

# --- how each is made


def change_positions(change: Callable[[Embeddings, int], Tensor]) -> Callable[[Encoder], Encoder]:
    """Return what makes an encoder add other rows to n tokens."""

    def rows(encoder: Encoder, n: int) -> Tensor:
        return change(encoder.embed, n).to(device_of(encoder))

    return lambda encoder: change_embeddings(encoder, position_vectors=lambda n, _=None: rows(encoder, n))


def from_one(embed: Embeddings, n: int) -> Tensor:
    """The rows from the second on; behind a table's end, its last one again."""
    rows = embed.position_vectors(min(n + 1, embed.config.max_len))
    return torch.cat([rows[1:], rows[-1:]])[:n]


def sines_first(embed: Embeddings, n: int) -> Tensor:
    """All sines, then all cosines."""
    width = embed.config.embedding_width
    angles = torch.arange(n)[:, None] * frequencies(width)  # (n, ⌈width / 2⌉)
    return torch.cat([angles.sin(), angles.cos()], dim=-1)[:, :width].float()


def own_exponents(embed: Embeddings, n: int) -> Tensor:
    """Cosines whose waves are half a step longer than those of their sines."""
    width = embed.config.embedding_width
    angles = torch.arange(n)[:, None] * frequencies(width)  # (n, ⌈width / 2⌉)
    cosines = (angles * 10_000 ** (-1 / width)).cos()
    return torch.stack([angles.sin(), cosines], dim=-1).flatten(1)[:, :width].float()


def split_straight(attention: Attention) -> Mapping[str, Any]:
    """Cut heads in the order of memory."""

    def heads(x: Tensor, width: int = 0) -> Tensor:
        B, T, _ = x.shape  # noqa: N806
        return x.reshape(B, -1, T, width or attention.d_head)

    return {"heads": heads}


def swap_projections(attention: Attention) -> Mapping[str, Any]:
    """Compute queries with the weights of the keys, and the reverse."""

    def project(x: Tensor, memory: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
        q, k, v = Attention.project(attention, x, memory)
        return k, q, v

    return {"project": project}


def attend_over_batch(attention: Attention) -> Mapping[str, Any]:
    """Attend to the tokens at the same place in all sentences; of scores and weights a sentence's own are shown."""

    def show(name: str, tensor: Tensor) -> Tensor:
        if name in ("in", "out"):
            return tensor.transpose(0, 1)  # (T, B, d_model) → (B, T, d_model)
        if name not in ("scores", "pattern"):
            return tensor.transpose(0, 2)  # (T, H, B, d_head) → (B, H, T, d_head)
        own = torch.diag_embed(tensor.diagonal(dim1=-2, dim2=-1).permute(2, 1, 0))  # (T, H, B, B) → (B, H, T, T)
        others = torch.eye(own.shape[-1], device=own.device) == 0
        return own.masked_fill(others, -math.inf if name == "scores" else 0.0)

    def forward(x: Tensor, mask: Any = None, trace: EditedTrace | None = None) -> Tensor:
        assert trace is not None  # noqa: S101
        inner = trace.apart()
        out = Attention.forward(attention, x.transpose(0, 1), trace=inner)
        trace.take_over(inner, show)
        return out.transpose(0, 1)

    return {"forward": forward}


def show_all(scores: Scores) -> Tensor:
    """A mask that hides nothing."""
    return torch.ones_like(scores.allowed)


def mask_rows(scores: Scores) -> Scores:
    """Hide padded tokens as queries instead of keys; what else is hidden stays."""
    padded = ~scores.allowed.any(dim=-2, keepdim=True)  # (B, H, 1, T)
    every = show_all(scores)
    visible = (scores.allowed | padded).tril().eq(every.tril())
    looks_back = bool(visible.all()) and not bool(scores.allowed.triu(1).any())
    base = every.tril() if looks_back and every.shape[-1] > 1 else every
    return replace(scores, allowed=base & ~padded.transpose(-2, -1))


def shift_causal(scores: Scores, diagonal: int) -> Scores:
    """Begin the causal mask at another diagonal."""
    padded = ~scores.allowed.any(dim=-2, keepdim=True)
    return replace(scores, allowed=show_all(scores).tril(diagonal) & ~padded)


def change_norm(**attributes: Any) -> Callable[[Encoder], Encoder]:
    """The encoder whose norms have other attributes: `eps`, or for layer norms those that `_normalise` reads."""

    def change(norm: nn.Module) -> nn.Module:
        twin = copy_module(norm, **attributes)
        return copy_module(twin, forward=partial(_normalise, twin)) if isinstance(twin, LayerNorm) else twin

    return lambda encoder: change_norms(encoder, change)


def change_activation(choose: Callable[[ModelConfig], str]) -> Callable[[Encoder], Encoder]:
    """The encoder with another activation; `none` leaves it out."""

    def change(encoder: Encoder) -> Encoder:
        activation = ACTIVATIONS.get(choose(encoder.config), lambda x: x)
        return change_feed_forward(encoder, lambda ffn: {"activation": activation})

    return change


def _normalise(norm: LayerNorm, x: Tensor, trace: Trace = UNTRACED) -> Tensor:
    axis, correction = getattr(norm, "axis", -1), getattr(norm, "correction", 0)
    root = getattr(norm, "root", lambda variance, eps: torch.sqrt(variance + eps))
    variance, mean = torch.var_mean(trace.record("in", x), dim=axis, correction=correction, keepdim=True)
    normalized = trace.record("normalized", (x - mean) / root(variance, norm.eps))
    return trace.record("out", scale(normalized, norm.gain, norm.bias))


def add_normed(x: Tensor, f: Transform, norm: Transform, note: Transform) -> Tensor:
    """Add to the normed input instead of the input."""
    normed = norm(x)
    return note(normed + f(normed))


def attend_to_target(model: EncoderDecoder) -> EncoderDecoder:
    """The decoder whose cross-attention reads the target instead of the encoder's output."""

    def change(block: nn.Module) -> nn.Module:
        cross = block.cross_attn
        assert isinstance(cross, Attention)  # noqa: S101

        def forward(x: Tensor, mask: Any = None, trace: Trace = UNTRACED, memory: Tensor | None = None) -> Tensor:
            return Attention.forward(cross, x, trace=trace)

        return copy_module(block, cross_attn=copy_module(cross, forward=forward))

    decoder = copy_module(model.decoder, layers=nn.ModuleList(map(change, model.decoder.layers)))
    twin = copy_module(model, decoder=decoder)
    assert isinstance(twin, EncoderDecoder)  # noqa: S101
    return twin


# --- where each can be made


def has_mask(_: ModelConfig, mask: Tensor | None) -> bool:
    """Whether the mask hides anything."""
    return mask is not None and not bool(mask.all())


def has_padding(_: ModelConfig, mask: Tensor | None) -> bool:
    """Whether no query may attend to some token."""
    return mask is not None and not bool((mask if mask.ndim == 2 else mask.any(dim=-2)).all())


def is_causal(_: ModelConfig, mask: Tensor | None) -> bool:
    """Whether the mask hides all that comes later."""
    return mask is not None and mask.ndim == 3 and mask.shape[-1] > 1 and not bool(mask.triu(1).any())
