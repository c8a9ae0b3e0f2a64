"""A changed pass, and a second opinion: the forward pass in plain torch, float64, with every tensor changed by hand."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from playground import Encoder, Trace
from playground.model.changes import Change
from playground.model.interventions import InterventionTrace
from tests.model.reference import scramble, small_config

ByHand = Callable[[Tensor], Tensor]


def plain_forward(model: Encoder, ids: Tensor, allowed: Tensor, changes: dict[str, ByHand]) -> Tensor:
    """One sentence, ids (T,), allowed (T, T) → (T, D); `changes` maps names of a trace to what is done there.

    For models with layer norms, ReLU and sinusoids.
    """
    config, numbers = model.config, {name: tensor.double() for name, tensor in model.state_dict().items()}

    def change(name: str, tensor: Tensor) -> Tensor:
        return changes[name](tensor) if name in changes else tensor

    def linear(name: str, x: Tensor) -> Tensor:
        return F.linear(x, numbers[f"{name}.weight"], numbers[f"{name}.bias"])

    def norm(name: str, x: Tensor) -> Tensor:
        centred = x - x.mean(-1, keepdim=True)
        spread = (centred.square().mean(-1, keepdim=True) + config.norm_eps).sqrt()
        return torch.addcmul(numbers[f"{name}.bias"], centred / spread, numbers[f"{name}.gain"])

    n_tokens, n_heads, d_head = len(ids), config.n_heads, config.head_width
    x = numbers["embed.tokens.weight"][ids]
    if config.scale_embeddings:
        x = x * math.sqrt(config.d_model)
    x = change("embed.sum", x + model.embed.position_vectors(n_tokens).double())
    x = change("embed.out", x)
    for i in range(config.n_layers):
        block = f"layers.{i}"
        read = norm(f"{block}.norm1", x) if config.norm_placement == "pre" else x
        if config.fused_qkv:
            together = linear(f"{block}.attn.qkv", read).view(n_tokens, n_heads, 3, d_head)
            projections = {part: together[:, :, at] for at, part in enumerate("qkv")}
        else:
            projections = {part: linear(f"{block}.attn.{part}", read).view(n_tokens, n_heads, d_head) for part in "qkv"}
        q, k, v = (change(f"{block}.attn.{part}", each.transpose(0, 1)) for part, each in projections.items())
        scores = torch.einsum("hqd,hkd->hqk", q, k) / math.sqrt(d_head)
        scores = change(f"{block}.attn.scores", scores.masked_fill(~allowed, -math.inf))
        pattern = change(f"{block}.attn.pattern", scores.exp() / scores.exp().sum(-1, keepdim=True))
        z = change(f"{block}.attn.z", torch.einsum("hqk,hkd->hqd", pattern, v))
        merged = z.transpose(0, 1) if config.head_merge == "transpose" else z
        attended = change(f"{block}.attn.out", linear(f"{block}.attn.o", merged.reshape(n_tokens, -1)))
        x = change(f"{block}.resid_mid", x + attended)
        x = norm(f"{block}.norm1", x) if config.norm_placement == "post" else x
        read = norm(f"{block}.norm2", x) if config.norm_placement == "pre" else x
        fed = linear(f"{block}.ffn.down", F.relu(linear(f"{block}.ffn.up", read)))
        x = x + change(f"{block}.ffn.out", fed)
        x = norm(f"{block}.norm2", x) if config.norm_placement == "post" else x
        x = change(f"{block}.out", x)
    return x


IDS = torch.tensor([[1, 5, 2, 7, 0, 0]])
OTHER_IDS = torch.tensor([[3, 5, 8, 7, 0, 0]])
REAL = torch.tensor([[True] * 4 + [False] * 2])
VARIANTS: dict[str, dict[str, Any]] = {
    "post": {},
    "pre": {"norm_placement": "pre"},
    "fused": {"fused_qkv": True},
    "reshape": {"head_merge": "reshape", "norm_placement": "pre"},
}


def build(variant: str) -> Encoder:
    return scramble(Encoder(small_config(**VARIANTS[variant]), seed=3)).double()


def changed_trace(
    model: Encoder, rows: Sequence[Sequence[Change]], ids: Tensor = IDS, mask: Tensor = REAL
) -> InterventionTrace:
    """The trace of a batch whose rows are one sentence each with its own interventions; patches are from OTHER_IDS."""
    source = Trace()
    model(OTHER_IDS, mask, source)
    trace = InterventionTrace(
        rows,
        REAL.expand(len(rows), -1),
        positions=model.embed.position_vectors(ids.shape[1]),
        sources={1: {name: tensor[0] for name, tensor in source.items()}},
    )
    model(ids.expand(len(rows), -1), mask.expand(len(rows), *mask.shape[1:]), trace)
    return trace


def set_to(where: tuple[object, ...], new: Tensor | float, strength: float = 1.0) -> ByHand:
    """A change by hand of a part of a tensor."""

    def change(tensor: Tensor) -> Tensor:
        mixed = tensor.clone()
        mixed[where] = (1 - strength) * tensor[where] + strength * new  # type: ignore[index]
        return mixed

    return change


EVERY = slice(None)
PATTERN = "layers.1.attn.pattern"
