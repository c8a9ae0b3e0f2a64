"""A gradient's way back through an encoder, from one loss in one backward pass.

Legend: L layers, T tokens, D = d_model. A depth counts the blocks passed: 0 is the embeddings, L the last block.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from playground.analysis.streams import cosine_between_tokens, mean_of_pairs
from playground.errors import InputError
from playground.model import Encoder, causal_mask
from playground.model.blocks import EncoderBlock
from playground.model.init import Embedding
from playground.model.masks import UNMASKED, AttentionMask
from playground.runs.arrays import freeze

Norms = NDArray[np.float64]
"""One number a layer or a depth."""


@dataclass(frozen=True)
class Flow:
    """One encoder's backward pass; every norm is L2, a vector's length. All arrays are read-only."""

    loss: float
    """As `next_token_loss` gives it."""
    gradients: Mapping[str, Norms]
    """By part. `whole layer`, `attention`, `feed-forward` and, where there are any, `norms`: of a layer's parameters,
    (L,); `stream`: of the vectors between the blocks, by depth, (L + 1,)."""
    embeddings: float | None
    """Norm of the gradient of the tables and of the norm on them; None where there are none."""
    lengths: Norms
    """Mean length of a token's vector, by depth, (L + 1,)."""
    alike: float
    """Mean cosine between two tokens' vectors behind the last block; NaN where there is one token."""


def next_token_loss(vectors: Tensor, table: Tensor, ids: Tensor) -> Tensor:
    """−1/T Σₜ log softmax(E hₜ)[wₜ₊₁]: every last vector names the token after its own, the last one the first.

    Rows of the table E are about 1 long as they are drawn (the scale √D of the embeddings comes after the table), so
    vectors of length √D, as norms make them, get logits of about 1. E is held fixed here: a gradient reaches the
    embeddings through the blocks alone.

    Args:
        vectors: (T, D), what leaves the encoder.
        table: (V, D), the token table.
        ids: (T,) int64.
    """
    return F.cross_entropy(vectors @ table.detach().T, ids.roll(-1))


def backward(
    encoder: Encoder, ids: Tensor, *, vectors: Tensor | None = None, n_layers: int | None = None, causal: bool = False
) -> Flow:
    """One forward and one backward pass of `next_token_loss`, a block at a time, as the chain rule has it.

    Each block's graph, and its parameters' gradients, are gone before the next block's are made.

    Args:
        encoder: whose parameters want gradients; they are handed over as norms, not stored.
        ids: (T,) int64.
        vectors: (V, D), the raw vectors that ids are rows of, for an encoder without a token table. Over √D, so that
            they are about 1 long, they are the loss's table.
        n_layers: how many of its blocks to run; all by default.
        causal: whether later tokens are hidden.

    Raises:
        InputError: the encoder has no token table, or the sentence is longer than its position table.
    """
    mask = AttentionMask(causal_mask(len(ids), ids.device)[:, None]) if causal else UNMASKED  # (1, 1, T, T)
    if vectors is None:
        x, table = encoder.embed(ids[None]), token_table(encoder).weight
    else:
        x, table = encoder.embed_vectors(vectors[ids][None]), vectors / math.sqrt(encoder.config.d_model)
    embedded = x  # (1, T, D)
    blocks: list[tuple[EncoderBlock, Tensor, Tensor]] = []
    for block in encoder.layers[:n_layers]:
        start = x.detach().requires_grad_()
        x = block(start, mask)
        blocks.append((block, start, x))  # type: ignore[arg-type]
    stream = [start.detach() for _, start, _ in blocks] + [x.detach()]

    end = x.detach().requires_grad_()
    last = end if encoder.final_norm is None else encoder.final_norm(end)
    loss = next_token_loss(last[0], table, ids)
    (gradient,) = torch.autograd.grad(loss, end)
    by_part: dict[str, list[float]] = {"stream": [_norm([gradient])]}
    while blocks:
        block, start, out = blocks.pop()
        parts = _parts(block)
        parameters = [parameter for part in parts.values() for parameter in part]
        gradient, *of_parameters = torch.autograd.grad(out, [start, *parameters], gradient)
        by_part["stream"].append(_norm([gradient]))
        norms = {name: _norm([of_parameters.pop(0) for _ in part]) for name, part in parts.items()}
        for name, norm in {**norms, "whole layer": float(np.linalg.norm(list(norms.values())))}.items():
            by_part.setdefault(name, []).append(norm)
    of_embeddings = list(encoder.embed.parameters())
    return Flow(
        loss=float(loss.detach()),
        gradients={name: _read_only(norms[::-1]) for name, norms in by_part.items()},
        embeddings=_norm(torch.autograd.grad(embedded, of_embeddings, gradient)) if of_embeddings else None,
        lengths=_read_only([float(torch.linalg.vector_norm(x, dim=-1, dtype=torch.float64).mean()) for x in stream]),
        alike=mean_of_pairs(cosine_between_tokens(stream[-1][0].float().cpu().numpy())),
    )


def token_table(encoder: Encoder) -> Embedding:
    """The table that token embeddings are rows of; raises InputError where an encoder has none."""
    if encoder.embed.tokens is None:
        raise InputError("This encoder has vocab_size=0, no token table: it has no next token to name.")
    return encoder.embed.tokens


def _parts(block: EncoderBlock) -> dict[str, list[Tensor]]:
    """A block's parameters by part, without parts that have none."""
    parts: dict[str, list[Tensor]] = {
        "attention": [*block.attn.parameters()],
        "feed-forward": [*block.ffn.parameters()],
        "norms": [*block.norm1.parameters(), *block.norm2.parameters()],
    }
    return {name: part for name, part in parts.items() if part}


def _norm(tensors: Iterable[Tensor]) -> float:
    """√Σ x² over all numbers of several tensors, summed in fp64: in fp32 squares far from 1 vanish or overflow."""
    dense = [tensor.coalesce().values() if tensor.is_sparse else tensor for tensor in tensors]
    norms = [torch.linalg.vector_norm(tensor, dtype=torch.float64) for tensor in dense]
    return float(torch.linalg.vector_norm(torch.stack(norms)))


def _read_only(numbers: list[float]) -> Norms:
    array = np.array(numbers)
    freeze(array)
    return array
