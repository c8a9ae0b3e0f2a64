"""A gradient's way back through an encoder, block by block, from one loss in one backward pass.

Legend: T tokens, H heads, D = d_model, L layers. A depth counts the blocks passed: 0 is the embeddings, L the last
block.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from playground.errors import InputError
from playground.model import Encoder, Trace, causal_mask
from playground.model.blocks import EncoderBlock
from playground.model.encoder import layer_masks
from playground.runs.arrays import freeze
from playground.runs.budget import check_interrupted

MAP_POINTS = frozenset(
    [f"attn.{name}" for name in ("in", "q", "k", "v", "q_projected", "k_projected", "v_projected", "z", "out")]
    + [f"ffn.{name}" for name in ("in", "up", "gate", "hidden", "out")]
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
    norms = [parameter for norm in list_norms(step.block) for parameter in norm.parameters()]
    maps = _linear_maps(step)
    outputs = [output for pairs in maps.values() for _, together in pairs for output in together]
    at_start, *others = torch.autograd.grad(step.out, [step.start, *outputs, *norms], gradient, retain_graph=True)
    lengths = {}
    for part, pairs in maps.items():
        squares = 0.0
        for read, together in pairs:
            gradients = [_by_token(others.pop(0)) for _ in together]
            squares += map_gradient(read, torch.cat(gradients, dim=1), has_bias=step.block.attn.o.bias is not None)
        lengths[part] = math.sqrt(squares)
    if norms:
        lengths["norms"] = l2_norm(others)
    whole = float(np.linalg.norm(list(lengths.values())))
    return at_start, {"stream": l2_norm([at_start]), **lengths, "whole layer": whole}


def list_norms(block: EncoderBlock) -> list[nn.Module]:
    """A block's norms, those of its heads' queries and keys among them."""
    norms = block.norm1, block.norm2, block.post_norm1, block.post_norm2, block.attn.q_norm, block.attn.k_norm
    return [norm for norm in norms if norm is not None]


def _linear_maps(step: BlockStep) -> dict[str, list[tuple[Tensor, list[Tensor]]]]:
    """By sublayer, what linear maps read, (T, d_in), and what those that read it give, in the graph."""
    trace = step.trace
    qkv = [trace.get(f"attn.{name}_projected", trace[f"attn.{name}"]) for name in "qkv"]
    merged = step.block.attn.merge(trace["attn.z"])
    up = [trace[name] for name in ("ffn.up", "ffn.gate") if name in trace]
    return {
        "attention": [(trace["attn.in"][0], qkv), (merged[0], [trace["attn.out"]])],
        "feed-forward": [(trace["ffn.in"][0], up), (trace["ffn.hidden"][0], [trace["ffn.out"]])],
    }


def _by_token(x: Tensor) -> Tensor:
    """(1, T, D) or, cut into heads, (1, H, T, d_head) → (T, D)."""
    return x[0] if x.ndim == 3 else x[0].transpose(0, 1).flatten(1)


def map_gradient(read: Tensor, gradient: Tensor, *, has_bias: bool = True) -> float:
    """‖∂L/∂W‖² + ‖∂L/∂b‖² of a linear map y = W x + b, in fp64, where squares far from 1 have a place.

    With G = ∂L/∂Y these gradients are Gᵀ X and Σₜ Gₜ. Their squares add up to Σₛₜ (G Gᵀ)ₛₜ (X Xᵀ + 1)ₛₜ. So two
    matrices of T × T numbers stand for one of d_out × d_in, which for a short sentence is many times the work.

    Args:
        read: X, (T, d_in).
        gradient: G, (T, d_out); of several maps that read the same, side by side.
        has_bias: whether there is a b; without one, the 1 is left out.
    """
    x, g = read.detach().double(), gradient.double()
    return float(((g @ g.T) * (x @ x.T + has_bias)).sum().clamp_min(0))


def l2_norm(tensors: Iterable[Tensor]) -> float:
    """√Σ x² over all numbers of several tensors, summed in fp64: in fp32 squares far from 1 vanish or overflow."""
    dense = [tensor.coalesce().values() if tensor.is_sparse else tensor for tensor in tensors]
    norms = [torch.linalg.vector_norm(tensor, dtype=torch.float64) for tensor in dense]
    return float(torch.linalg.vector_norm(torch.stack(norms)))


Norms = NDArray[np.float64]
"""One number a layer or a depth."""


@dataclass(frozen=True)
class Flow:
    """One encoder's backward pass; every norm is L2, a vector's length. All arrays are read-only."""

    loss: float
    """As `next_token_loss` gives it."""
    gradients: Mapping[str, Norms]
    """By part. `whole layer`, `attention`, `feed-forward` and, where there are any, `norms`: of a layer's parameters,
    (L,), or what this layer adds to it where layers share their parameters; `stream`: of the vectors between the
    blocks, by depth, (L + 1,)."""


def next_token_loss(vectors: Tensor, table: Tensor, ids: Tensor) -> Tensor:
    """−1/T Σₜ log softmax(E hₜ)[wₜ₊₁]: every last vector names the token after its own, the last one the first.

    Vectors of length √D, as norms make them, get logits that deviate by the length of E's rows. These are about 1 long
    where the table is Glorot & Bengio's, and √D where it is N(0, 1), as torch draws it: the loss is high then, whatever
    the blocks do. E is held fixed here: a gradient reaches the embeddings through the blocks alone.

    Args:
        vectors: (T, D), what leaves the encoder.
        table: (V, D), the token table.
        ids: (T,) int64.
    """
    return F.cross_entropy(vectors @ table.detach().T, ids.roll(-1))


def backward(
    encoder: Encoder, ids: Tensor, *, vectors: Tensor | None = None, n_layers: int | None = None, causal: bool = False
) -> Flow:
    """Run `next_token_loss` forward and backward, a block at a time, as the chain rule has it.

    Each block's graph, and its parameters' gradients, are gone before the next block's are made.

    Args:
        encoder: whose parameters' gradients are returned as norms, not stored.
        ids: (T,) int64.
        vectors: (V, D), the raw vectors that ids are rows of, for an encoder without a token table. Over √D, so that
            they are about 1 long, they are the loss's table.
        n_layers: how many of its blocks to run; all by default.
        causal: whether later tokens are hidden.

    Raises:
        InputError: the encoder has no token table, or the sentence is longer than its position table.
    """
    with torch.no_grad():
        x = encoder.embed(ids[None]) if vectors is None else encoder.embed_vectors(vectors[ids][None])
        table = loss_table(encoder, vectors)
        allowed = causal_mask(len(ids), ids.device)[:, None] if causal else None  # (1, 1, T, T)
        masks = layer_masks(encoder.config, encoder.relative, allowed, x)
    steps = []
    for block, mask in zip(encoder.layers[:n_layers], masks, strict=False):
        check_interrupted()
        start, trace = x.detach().requires_grad_(), Trace(MAP_POINTS.__contains__)
        x = block(start, mask, trace)
        steps.append(BlockStep(block, start, x, trace))  # type: ignore[arg-type]
    end = x.detach().requires_grad_()
    loss = next_token_loss((end if encoder.final_norm is None else encoder.final_norm(end))[0], table, ids)
    (gradient,) = torch.autograd.grad(loss, end)
    by_part: dict[str, list[float]] = {"stream": [l2_norm([gradient])]}
    while steps:
        check_interrupted()
        gradient, norms = through_block(steps.pop(), gradient)
        for name, norm in norms.items():
            by_part.setdefault(name, []).append(norm)
    return Flow(float(loss.detach()), {name: _read_only(norms[::-1]) for name, norms in by_part.items()})


def loss_table(encoder: Encoder, vectors: Tensor | None) -> Tensor:
    """Return the table (V, D) whose rows the loss names, mapped to d_model as the embeddings are; as `backward`."""
    if vectors is not None:
        table = vectors / math.sqrt(encoder.config.d_model)
    elif encoder.embed.tokens is not None:
        table = encoder.embed.tokens.weight
    else:
        raise InputError("This encoder has vocab_size=0, no token table: it has no next token to name.")
    return table if encoder.embed.project is None else encoder.embed.project(table)


def _read_only(numbers: list[float]) -> Norms:
    array = np.array(numbers)
    freeze(array)
    return array
