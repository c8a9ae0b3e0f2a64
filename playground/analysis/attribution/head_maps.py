"""One head's learned maps, cut out of its layer's, however that keeps them."""

from dataclasses import dataclass

import numpy as np
from torch import Tensor

from playground.analysis.tex import Floats
from playground.model import Encoder
from playground.model.attention import maps_by_head
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
    (q, q_bias), (k, k_bias), _ = ((weight[head], bias[head]) for weight, bias in maps_by_head(attn).values())
    o = attn.o.weight.view(-1, attn.n_heads, attn.d_head)[:, head if piece is None else piece]
    return HeadMaps(*map(_to_fp64, (q, q_bias, k, k_bias, o)))


def _to_fp64(tensor: Tensor) -> Floats:
    return tensor.detach().cpu().numpy().astype(np.float64)
