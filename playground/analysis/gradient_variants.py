"""Six encoders that differ in norms and residual connections alone: the gradient's way through each, at any depth.

Legend: T tokens, V words, D = d_model.
"""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor

from playground.accounting import count_parameters
from playground.analysis.gradients import Flow, backward, loss_table, sweep_depths
from playground.config import ModelConfig
from playground.errors import TooLargeError
from playground.model import Encoder
from playground.model.init import Linear
from playground.text import Tokenizer
from playground.text.tokenizer import draw_vectors

LONGEST = 64
"""Tokens of a sentence that take part: six encoders run forwards and backwards, eighteen times a pass's work."""


@dataclass(frozen=True)
class Variant:
    """One of the six."""

    norm: Literal["post", "pre", "none"]
    """`post`: norm(x + f(x)); `pre`: x + f(norm(x)); `none`: no norm, in the blocks or behind them."""
    residual: bool
    """Whether each sublayer's input is added to its output."""

    @property
    def name(self) -> str:
        """How it is called on a page."""
        norm = "no norm" if self.norm == "none" else f"{self.norm}-norm"
        return norm if self.residual else f"{norm}, no residual"


VARIANTS = tuple(Variant(norm, residual) for residual in (True, False) for norm in ("post", "pre", "none"))

BY_NAME = {variant.name: variant for variant in VARIANTS}


@dataclass(frozen=True)
class Comparison:
    """The six side by side."""

    config: ModelConfig
    """What they share."""
    n_names: int
    """How many tokens the loss chooses from."""
    row_length: float
    """Mean length of the rows that the loss names tokens by."""
    flows: Mapping[int, Mapping[Variant, Flow]]
    """By number of layers, then by variant."""
    n_tokens: int
    device: str
    seconds: float
    """What all of it took, the weights' drawing included."""

    @property
    def full_depth(self) -> Mapping[Variant, Flow]:
        """The six with all layers."""
        return self.flows[self.config.n_layers]

    @property
    def even_guess(self) -> float:
        """The loss of giving every token the same probability: ln V."""
        return math.log(self.n_names)


def common_config(config: ModelConfig, n_layers: int) -> ModelConfig:
    """What the six share of an architecture: all but the place of the norms and the residual connections.

    Those with norms take the config's kind of norm, or `layer` where it has none. None has a norm on the embeddings: it
    would make "no norm" untrue, and tokens longer than attention and feed-forward are drawn for.
    """
    return replace(
        config,
        n_layers=n_layers,
        norm_placement="post",
        residual=True,
        norm="layer" if config.norm == "none" else config.norm,
        embedding_norm=False,
    )


def check_layers(config: ModelConfig, max_parameters: int) -> None:
    """Refuse encoders of more than `max_parameters` before they are built: TooLargeError says how many layers fit."""
    count = count_parameters(config)
    if count.total <= max_parameters:
        return
    by_layer = count.by(lambda term: term.layer)
    room = max_parameters - by_layer.get(None, 0)
    fits = max(0, room // by_layer[0])
    raise TooLargeError(
        f"With {config.n_layers} layers each of the six encoders would have {count.total:,} parameters, and this "
        f"server runs at most {max_parameters:,}: "
        + (f"{fits} layers of this shape would fit." if fits else "even one layer of this shape is too large.")
    )


def compare(
    config: ModelConfig,
    seed: int,
    ids: Tensor,
    depths: Sequence[int],
    *,
    vectors: Tensor | None = None,
    scale: float = 1.0,
    causal: bool = False,
    device: torch.device | None = None,
    weights: Encoder | None = None,
) -> Comparison:
    """Run the six forwards and backwards, on ids (T,) int64, one sentence without padding; errors as in `backward`.

    Args:
        config: what they share, as `common_config` returns it.
        seed: of the weights. The six have the same ones, and a shallower encoder the first layers of a deeper one.
        ids: of the tokens.
        depths: numbers of layers, at most the config's.
        vectors: as in `backward`, where the config has no token table.
        scale: every linear map's weights are multiplied by it.
        causal: whether later tokens are hidden.
        device: where to run; the weights are drawn on the CPU all the same.
        weights: what `draw_weights` returns for these, on the device, where it is there already.
    """
    started = time.perf_counter()
    weights = draw_weights(config, seed, scale).to(device) if weights is None else weights
    ids, vectors = ids.to(device), None if vectors is None else vectors.to(device)
    flows: dict[int, dict[Variant, Flow]] = {depth: {} for depth in depths}
    for variant in VARIANTS:
        encoder = with_variant(weights, variant)
        for depth in depths:
            flows[depth][variant] = backward(encoder, ids, vectors=vectors, n_layers=depth, causal=causal)
    with torch.inference_mode():
        rows = loss_table(weights, vectors)
        row_length = float(torch.linalg.vector_norm(rows, dim=-1).mean(dtype=torch.float64))
    kind = next(weights.parameters()).device.type
    return Comparison(config, len(rows), row_length, flows, len(ids), kind, time.perf_counter() - started)


def draw_weights(config: ModelConfig, seed: int, scale: float) -> Encoder:
    """An encoder as `initialise` draws it, its linear maps' weights then multiplied by `scale`."""
    return scale_weights(Encoder(config, seed), scale)


def scale_weights(encoder: Encoder, scale: float) -> Encoder:
    """Another encoder of an encoder's tensors, but for its linear maps' weights: copies times `scale`, unless 1."""
    other, tensors = Encoder(encoder.config, seed=None), encoder.state_dict()
    if scale != 1:
        maps = [f"{name}.weight" for name, module in encoder.named_modules() if isinstance(module, Linear)]
        tensors |= {name: tensors[name] * scale for name in maps}
    other.load_state_dict(tensors, assign=True)
    if other.embed.tokens is not None:
        other.embed.tokens.sparse = True  # its gradient is zero but in this sentence's rows
    return other.to(next(iter(tensors.values())).device)


def variant_config(config: ModelConfig, variant: Variant) -> ModelConfig:
    """What `common_config` returns, in another variant."""
    return replace(
        config,
        norm="none" if variant.norm == "none" else config.norm,
        norm_placement="pre" if variant.norm == "pre" else "post",
        residual=variant.residual,
    )


def with_variant(encoder: Encoder, variant: Variant) -> Encoder:
    """An encoder in another variant that shares an encoder's tensors; without norms it has fewer.

    The encoder is one of `common_config`: embeddings with a norm would stay as they are.
    """
    other, weights = Encoder(variant_config(encoder.config, variant), seed=None), encoder.state_dict()
    other.load_state_dict({name: weights[name] for name in other.state_dict()}, assign=True)
    other.embed = encoder.embed
    return other


def draw_vocabulary(tokenizer: Tokenizer, config: ModelConfig, seed: int) -> Tensor | None:
    """The vector of every word of the text, in the order of their ids, (V, D); None with a token table."""
    if config.vocab_size:
        return None
    words = [tokenizer.id_to_token(i) for i in range(tokenizer.vocab_size)]
    return draw_vectors(words, config.embedding_width, seed)


DepthNorms = Mapping[Variant, Mapping[int, Mapping[str, float]]]
"""By variant, number of layers and part, the norm of the first layer's gradient, as `Flow.gradients` begins."""


def sweep_variants(
    weights: Encoder, ids: Tensor, depths: Sequence[int], *, vectors: Tensor | None = None, causal: bool = False
) -> DepthNorms:
    """Return the first layer's gradient norms in the six at these depths; arguments and errors as of `compare`."""
    return {
        variant: sweep_depths(with_variant(weights, variant), ids, depths, vectors=vectors, causal=causal)
        for variant in VARIANTS
    }
