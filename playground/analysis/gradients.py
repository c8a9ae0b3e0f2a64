"""A gradient's way back through an encoder, block by block, and six encoders to compare by it.

Legend: T tokens, H heads, V words, D = d_model, L layers.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from playground.config import ModelConfig
from playground.errors import InputError
from playground.model import Encoder, Trace, causal_mask
from playground.model.blocks import EncoderBlock
from playground.model.encoder import layer_masks
from playground.model.init import Linear
from playground.runs.arrays import freeze
from playground.runs.budget import check_interrupted
from playground.text import Tokenizer
from playground.text.tokenizer import draw_vectors

MAP_POINTS = frozenset(
    [f"attn.{name}" for name in ("in", "q", "k", "v", "q_projected", "k_projected", "v_projected", "z", "out")]
    + [f"ffn.{name}" for name in ("in", "up", "gate", "hidden", "out")]
)


def through_block(
    block: EncoderBlock, ends: tuple[Tensor, Tensor], trace: Trace, gradient: Tensor
) -> tuple[Tensor, dict[str, float]]:
    """Carry a gradient back through a block, (1, T, D); also return norms by part."""
    start, out = ends
    attn = block.attn
    every = (block.norm1, block.norm2, block.post_norm1, block.post_norm2, attn.q_norm, attn.k_norm)
    norms = [parameter for norm in every if norm is not None for parameter in norm.parameters()]
    maps = _linear_maps(block, trace)
    outputs = [output for pairs in maps.values() for _, together in pairs for output in together]
    at_start, *others = torch.autograd.grad(out, [start, *outputs, *norms], gradient, retain_graph=True)
    lengths = {}
    for part, pairs in maps.items():
        squares = 0.0
        for read, together in pairs:
            gradients = [_by_token(others.pop(0)) for _ in together]
            squares += map_gradient(read, torch.cat(gradients, dim=1), has_bias=attn.o.bias is not None)
        lengths[part] = math.sqrt(squares)
    if norms:
        lengths["norms"] = l2_norm(others)
    whole = float(np.linalg.norm(list(lengths.values())))
    return at_start, {"stream": l2_norm([at_start]), **lengths, "whole layer": whole}


def _linear_maps(block: EncoderBlock, trace: Trace) -> dict[str, list[tuple[Tensor, list[Tensor]]]]:
    """By sublayer: what maps read, (T, d_in), and their results."""
    names = "qkv" if block.attn.tied == "separate" else "qv"
    qkv = [trace.get(f"attn.{name}_projected", trace[f"attn.{name}"]) for name in names]
    up = [trace[name] for name in ("ffn.up", "ffn.gate") if name in trace]
    return {
        "attention": [(trace["attn.in"][0], qkv), (block.attn.merge(trace["attn.z"])[0], [trace["attn.out"]])],
        "feed-forward": [(trace["ffn.in"][0], up), (trace["ffn.hidden"][0], [trace["ffn.out"]])],
    }


def _by_token(x: Tensor) -> Tensor:
    """(1, T, D) or (1, H, T, d_head) → (T, D)."""
    return x[0] if x.ndim == 3 else x[0].transpose(0, 1).flatten(1)


def map_gradient(read: Tensor, gradient: Tensor, *, has_bias: bool = True) -> float:
    """Return ‖∂L/∂W‖² + ‖∂L/∂b‖² of a linear map y = W x + b, by X (T, d_in) and G = ∂L/∂Y (T, d_out), in fp64.

    That is Σₛₜ (G Gᵀ)ₛₜ (X Xᵀ + 1)ₛₜ: two matrices T × T instead of one d_out × d_in.
    """
    x, g = read.detach().double(), gradient.double()
    return float(((g @ g.T) * (x @ x.T + has_bias)).sum().clamp_min(0))


def l2_norm(tensors: Iterable[Tensor]) -> float:
    """Return √Σ x² over several tensors, in fp64."""
    norms = [torch.linalg.vector_norm(tensor, dtype=torch.float64) for tensor in tensors]
    return float(torch.linalg.vector_norm(torch.stack(norms)))


Norms = NDArray[np.float64]


Flow: TypeAlias = Mapping[str, Norms]
"""Norms of gradients: `whole layer`, `attention`, `feed-forward`, any `norms`, (L,); of vectors, `stream`, (L + 1,)."""


def next_token_loss(vectors: Tensor, table: Tensor, ids: Tensor) -> Tensor:
    """Return −1/T Σₜ log softmax(E hₜ)[wₜ₊₁], the last predicting the first: h (T, D), E (V, D), ids (T,)."""
    return F.cross_entropy(vectors @ table.detach().T, ids.roll(-1))


def backward(
    encoder: Encoder, ids: Tensor, *, vectors: Tensor | None = None, n_layers: int | None = None, causal: bool = False
) -> Flow:
    """Run `next_token_loss` of ids (T,) and back, block by block; raw `vectors` (V, D) over √D are its table.

    Raises:
        InputError: there is no token table, or the sentence is longer than the position table.
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
        steps.append((block, (start, x), trace))
    end = x.detach().requires_grad_()
    loss = next_token_loss((end if encoder.final_norm is None else encoder.final_norm(end))[0], table, ids)
    (gradient,) = torch.autograd.grad(loss, end)
    by_part: dict[str, list[float]] = {"stream": [l2_norm([gradient])]}
    while steps:
        check_interrupted()
        gradient, norms = through_block(*steps.pop(), gradient)  # type: ignore[arg-type]
        for name, norm in norms.items():
            by_part.setdefault(name, []).append(norm)
    gradients = {name: np.array(norms[::-1]) for name, norms in by_part.items()}
    freeze(*gradients.values())
    return gradients


def loss_table(encoder: Encoder, vectors: Tensor | None) -> Tensor:
    """Return the loss's table, (V, D)."""
    if vectors is not None:
        table = vectors / math.sqrt(encoder.config.d_model)
    elif encoder.embed.tokens is not None:
        table = encoder.embed.tokens.weight
    else:
        raise InputError("This encoder has vocab_size=0, no token table: it has no next token to name.")
    table = encoder.embed.before_positions(table)
    return table if encoder.embed.project is None else encoder.embed.project(table)


# --- six encoders that differ in norms and residual connections alone


@dataclass(frozen=True)
class Variant:
    """One of the six."""

    norm: Literal["post", "pre", "none"]
    """`post`: norm(x + f(x)); `pre`: x + f(norm(x)); `none`: no norm anywhere."""
    residual: bool

    @property
    def name(self) -> str:
        """Its name on a page."""
        norm = "no norm" if self.norm == "none" else f"{self.norm}-norm"
        return norm if self.residual else f"{norm}, no residual"

    @property
    def factor(self) -> str:
        """What one sublayer f multiplies a gradient by, in LaTeX; N' and f' are derivatives.

        Xiong et al. 2020, section 3, for the norm; He et al. 2015, section 3.2, for the identity I.
        """
        f = "f' N'" if self.norm == "pre" else "f'"
        with_residual = f"I + {f}" if self.residual else f
        if self.norm != "post":
            return with_residual
        return f"N' ({with_residual})" if self.residual else f"N' {f}"


VARIANTS = tuple(Variant(norm, residual) for residual in (True, False) for norm in ("post", "pre", "none"))

BY_NAME = {variant.name: variant for variant in VARIANTS}


def common_config(config: ModelConfig, n_layers: int) -> ModelConfig:
    """Return the architecture that the six share, as post-norm."""
    return replace(
        config,
        n_layers=n_layers,
        norm_placement="post",
        residual=True,
        norm="layer" if config.norm == "none" else config.norm,
        embedding_norm=False,
    )


def variant_config(config: ModelConfig, variant: Variant) -> ModelConfig:
    """Return a `common_config` as another variant."""
    return replace(
        config,
        norm="none" if variant.norm == "none" else config.norm,
        norm_placement="pre" if variant.norm == "pre" else "post",
        residual=variant.residual,
    )


def with_variant(encoder: Encoder, variant: Variant, scale: float = 1.0) -> Encoder:
    """Return an encoder of `common_config` as a variant that shares its tensors, linear weights times `scale`."""
    other, weights = Encoder(variant_config(encoder.config, variant), seed=None), encoder.state_dict()
    if scale != 1:
        maps = [f"{name}.weight" for name, module in encoder.named_modules() if isinstance(module, Linear)]
        weights |= {name: weights[name] * scale for name in maps}
    other.load_state_dict({name: weights[name] for name in other.state_dict()}, assign=True)
    return other.to(next(iter(weights.values())).device)


def draw_vocabulary(tokenizer: Tokenizer, config: ModelConfig, seed: int) -> Tensor | None:
    """Draw raw vectors by id, (V, D); None with a token table."""
    if config.vocab_size:
        return None
    words = [tokenizer.id_to_token(i) for i in range(tokenizer.vocab_size)]
    return draw_vectors(words, config.embedding_width, seed)
