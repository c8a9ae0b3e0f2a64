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
from playground.mistakes.lines import other_eps
from playground.model import Encoder
from playground.model.attention import Attention
from playground.model.blocks import ACTIVATIONS, EncoderBlock, Transform
from playground.model.encoder import Embeddings
from playground.model.encoder_decoder import EncoderDecoder
from playground.model.norms import LayerNorm, scale
from playground.model.positions import frequencies
from playground.model.trace import UNTRACED, Trace

# --- how each is made


def unscaled(encoder: Encoder) -> Encoder:
    """Leave √d_model out."""
    return change_embeddings(encoder, config=replace(encoder.config, scale_embeddings=False))


def place_table(table: Callable[[int, int], Tensor]) -> Callable[[Encoder], Encoder]:
    """The encoder with another position table: (n_tokens, d_model) → rows."""

    def change(encoder: Encoder) -> Encoder:
        device, width = device_of(encoder), encoder.config.embedding_width
        return change_embeddings(encoder, position_vectors=lambda n, _=None: table(n, width).to(device))

    return change


def change_positions(change: Callable[[Embeddings, int], Tensor]) -> Callable[[Encoder], Encoder]:
    """The encoder that adds other rows to n tokens, made of its own table."""
    return lambda encoder: change_embeddings(encoder, position_vectors=lambda n, _=None: change(encoder.embed, n))


def from_one(embed: Embeddings, n: int) -> Tensor:
    """The rows from the second on; behind a table's end, its last one again."""
    rows = embed.position_vectors(min(n + 1, embed.config.max_len))
    return torch.cat([rows[1:], rows[-1:]])[:n]


def waves(columns: Callable[[Tensor, int], Tensor]) -> Callable[[int, int], Tensor]:
    """A position table made of the angles of its pairs (n, ⌈width / 2⌉) and its width."""
    return lambda n, width: columns(torch.arange(n)[:, None] * frequencies(width), width)[:, :width].float()


def halves(angles: Tensor, _: int) -> Tensor:
    """Put all sines before all cosines."""
    return torch.cat([angles.sin(), angles.cos()], dim=-1)


def own_exponents(angles: Tensor, width: int) -> Tensor:
    """Cosines whose waves are half a step longer than those of their sines."""
    return torch.stack([angles.sin(), (angles * 10_000 ** (-1 / width)).cos()], dim=-1).flatten(1)


def split_straight(attention: Attention) -> Mapping[str, Any]:
    """Cut heads in the order of memory."""

    def heads(x: Tensor, width: int = 0) -> Tensor:
        B, T, _ = x.shape  # noqa: N806
        return x.reshape(B, -1, T, width or attention.d_head)

    return {"heads": heads}


def merge_straight(_: Attention) -> Mapping[str, Any]:
    """Join heads in the order of memory."""
    return {"head_merge": "reshape"}


def forget_output(_: Attention) -> Mapping[str, Any]:
    """Hand the joined heads on as they are."""
    return {"o": nn.Identity()}


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


def swap_query_and_key(scores: Scores) -> None:
    """Transpose the products."""
    scores.product = scores.product.transpose(-2, -1)


def scale_scores(factor: Callable[[Scores], float]) -> Callable[[Scores], None]:
    """Multiply the products by a factor."""

    def edit(scores: Scores) -> None:
        scores.product = scores.product * factor(scores)

    return edit


def sum_over_queries(scores: Scores) -> None:
    """Take the softmax along the queries."""
    scores.axis = -2


def show_all(scores: Scores) -> None:
    """Hide nothing."""
    scores.allowed = torch.ones_like(scores.allowed)


def invert_mask(scores: Scores) -> None:
    """Hide what is shown, and the reverse."""
    scores.allowed = ~scores.allowed


def mask_afterwards(scores: Scores) -> None:
    """Hide only after the softmax."""
    scores.kept = scores.allowed
    show_all(scores)


def add_mask(scores: Scores) -> None:
    """Add the mask as 1 and 0."""
    scores.product = scores.product + scores.allowed.to(scores.product)
    show_all(scores)


def look_back(scores: Scores) -> None:
    """Hide what comes later too."""
    scores.allowed = scores.allowed.tril()


def mask_rows(scores: Scores) -> None:
    """Hide padded tokens as queries instead of keys; what else is hidden stays."""
    padded = ~scores.allowed.any(dim=-2, keepdim=True)  # (B, H, 1, T)
    T = scores.allowed.shape[-1]  # noqa: N806
    visible = (scores.allowed | padded).tril().eq(torch.ones_like(scores.allowed).tril())
    looks_back = bool(visible.all()) and not bool(scores.allowed.triu(1).any())
    base = torch.ones_like(scores.allowed).tril() if looks_back and T > 1 else torch.ones_like(scores.allowed)
    scores.allowed = base & ~padded.transpose(-2, -1)


def shift_causal(diagonal: int) -> Callable[[Scores], None]:
    """Begin the causal mask at another diagonal."""

    def edit(scores: Scores) -> None:
        padded = ~scores.allowed.any(dim=-2, keepdim=True)
        scores.allowed = torch.ones_like(scores.allowed).tril(diagonal) & ~padded

    return edit


def change_norm(**attributes: Any) -> Callable[[Encoder], Encoder]:
    """The encoder whose norms have other attributes: `eps`, or for layer norms those that `_normalise` reads."""

    def change(norm: nn.Module) -> nn.Module:
        twin = copy_module(norm, **attributes)
        return copy_module(twin, forward=partial(_normalise, twin)) if isinstance(norm, LayerNorm) else twin

    return lambda encoder: change_norms(encoder, change)


def change_eps(encoder: Encoder) -> Encoder:
    """Give every norm the eps that others use."""
    return change_norm(eps=other_eps(encoder.config))(encoder)


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


def swap_norm_order(block: EncoderBlock) -> nn.Module:
    """Put the norms on the other side of the sublayers."""
    return copy_module(block, post_norm=not block.post_norm)


def forget_residual(block: EncoderBlock) -> nn.Module:
    """Add no inputs."""
    return copy_module(block, residual=False)


def add_normed(block: EncoderBlock) -> nn.Module:
    """Add the normed input."""

    def connect(x: Tensor, f: Transform, norm: Transform, note: Transform) -> Tensor:
        normed = norm(x)
        return note(normed + f(normed))

    return copy_module(block, connect=connect)


def share_first_layer(encoder: Encoder) -> Encoder:
    """Put the first layer in the place of every one."""
    twin = copy_module(encoder, layers=nn.ModuleList([encoder.layers[0]] * len(encoder.layers)))
    assert isinstance(twin, Encoder)  # noqa: S101
    return twin


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


def adds_positions(config: ModelConfig, _: Tensor | None) -> bool:
    """Whether a table of positions is added."""
    return config.has_position_table


def is_layer_norm(config: ModelConfig, _: Tensor | None) -> bool:
    """Whether the norms are layer norms."""
    return config.norm == "layer"


def is_not_causal(config: ModelConfig, mask: Tensor | None) -> bool:
    """Whether tokens may look ahead."""
    return not is_causal(config, mask)


def is_sinusoidal(config: ModelConfig, _: Tensor | None) -> bool:
    """Whether the positions are the sinusoids of the paper."""
    return config.positions == "sinusoidal"
