"""A gradient's way back through one block, and how long it makes the block's parameters' gradients.

Legend: T tokens, H heads, D = d_model.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from playground.model import Trace
from playground.model.blocks import EncoderBlock

MAP_POINTS = frozenset(
    {"attn.in", "attn.q", "attn.k", "attn.v", "attn.z", "attn.out", "ffn.in", "ffn.up", "ffn.hidden", "ffn.out"}
)
"""What a block's linear maps read and what they give, by the names of its trace."""


@dataclass(frozen=True)
class BlockStep:
    """One block's part of a forward pass, with its own graph."""

    block: EncoderBlock
    start: Tensor
    """(1, T, D), what entered, cut off from what was before."""
    out: Tensor
    """(1, T, D)"""
    trace: Trace
    """`MAP_POINTS`."""


def through_block(step: BlockStep, gradient: Tensor) -> tuple[Tensor, dict[str, float]]:
    """The gradient at a block's start, (1, T, D), of that at its end; and the norms of its parameters' by part."""
    norms = [*step.block.norm1.parameters(), *step.block.norm2.parameters()]
    maps = _linear_maps(step)
    outputs = [output for pairs in maps.values() for _, together in pairs for output in together]
    at_start, *others = torch.autograd.grad(step.out, [step.start, *outputs, *norms], gradient, retain_graph=True)
    lengths = {}
    for part, pairs in maps.items():
        squares = 0.0
        for read, together in pairs:
            gradients = [_by_token(others.pop(0)) for _ in together]
            squares += map_gradient(read, torch.cat(gradients, dim=1))
        lengths[part] = math.sqrt(squares)
    if norms:
        lengths["norms"] = l2_norm(others)
    whole = float(np.linalg.norm(list(lengths.values())))
    return at_start, {"stream": l2_norm([at_start]), **lengths, "whole layer": whole}


def _linear_maps(step: BlockStep) -> dict[str, list[tuple[Tensor, list[Tensor]]]]:
    """By sublayer, what linear maps read, (T, d_in), and what those that read it give, in the graph."""
    trace = step.trace
    q, k, v, merged = (*(trace[f"attn.{name}"] for name in "qkv"), step.block.attn.merge(trace["attn.z"]))
    return {
        "attention": [(trace["attn.in"][0], [q, k, v]), (merged[0], [trace["attn.out"]])],
        "feed-forward": [(trace["ffn.in"][0], [trace["ffn.up"]]), (trace["ffn.hidden"][0], [trace["ffn.out"]])],
    }


def _by_token(x: Tensor) -> Tensor:
    """(1, T, D) or, cut into heads, (1, H, T, d_head) → (T, D)."""
    return x[0] if x.ndim == 3 else x[0].transpose(0, 1).flatten(1)


def map_gradient(read: Tensor, gradient: Tensor) -> float:
    """‖∂L/∂W‖² + ‖∂L/∂b‖² of a linear map y = W x + b, in fp64, where squares far from 1 have a place.

    With G = ∂L/∂Y these gradients are Gᵀ X and Σₜ Gₜ. Their squares add up to Σₛₜ (G Gᵀ)ₛₜ (X Xᵀ + 1)ₛₜ. So two
    matrices of T × T numbers stand for one of d_out × d_in, which for a short sentence is many times the work.

    Args:
        read: X, (T, d_in).
        gradient: G, (T, d_out); of several maps that read the same, side by side.
    """
    x, g = read.detach().double(), gradient.double()
    return float(((g @ g.T) * (x @ x.T + 1)).sum().clamp_min(0))


def l2_norm(tensors: Iterable[Tensor]) -> float:
    """√Σ x² over all numbers of several tensors, summed in fp64: in fp32 squares far from 1 vanish or overflow."""
    dense = [tensor.coalesce().values() if tensor.is_sparse else tensor for tensor in tensors]
    norms = [torch.linalg.vector_norm(tensor, dtype=torch.float64) for tensor in dense]
    return float(torch.linalg.vector_norm(torch.stack(norms)))
