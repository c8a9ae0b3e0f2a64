"""One head's learned maps, cut out of its layer's, however that keeps them."""

from dataclasses import dataclass

import numpy as np
from torch import Tensor

from playground.analysis.tex import Floats
from playground.model import Encoder
from playground.model.blocks import EncoderBlock


@dataclass(frozen=True)
class HeadMaps:
    """The maps of one head in fp64: y = W x + b. D = d_model."""

    q: Floats
    """W_Q, (d_head, D)."""
    q_bias: Floats
    """(d_head,)"""
    k: Floats
    """W_K, (d_head, D)."""
    k_bias: Floats
    """(d_head,)"""
    o: Floats
    """(D, d_head): the columns of W_O that read one piece of the merged heads."""


def head_maps(encoder: Encoder, layer: int, head: int, piece: int | None = None) -> HeadMaps:
    """The maps of one head; its output is that piece of the merged heads, from 0, the head's own by default."""
    block: EncoderBlock = encoder.layers[layer]  # type: ignore[assignment]
    attn = block.attn
    if attn.fused:  # rows are laid out (head, [q k v], d_head)
        weights = attn.qkv.weight.view(attn.n_heads, 3, attn.d_head, -1)[head]
        biases = attn.qkv.bias.view(attn.n_heads, 3, attn.d_head)[head]
        (q, k), (q_bias, k_bias) = weights[:2], biases[:2]
    else:
        rows = slice(head * attn.d_head, (head + 1) * attn.d_head)
        q, k, q_bias, k_bias = (part[rows] for part in (attn.q.weight, attn.k.weight, attn.q.bias, attn.k.bias))
    o = attn.o.weight.view(-1, attn.n_heads, attn.d_head)[:, head if piece is None else piece]
    return HeadMaps(*map(_to_fp64, (q, q_bias, k, k_bias, o)))


def _to_fp64(tensor: Tensor) -> Floats:
    return tensor.detach().cpu().numpy().astype(np.float64)
