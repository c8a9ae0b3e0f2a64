"""A second opinion: an encoder's forward pass in plain torch, float64, with a place to change every tensor by hand."""

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from playground import Encoder

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

    n_tokens, n_heads, d_head = len(ids), config.n_heads, config.d_head
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
