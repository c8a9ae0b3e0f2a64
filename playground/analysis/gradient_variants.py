"""Six encoders that differ in norms and residual connections alone.

Legend: V words, D = d_model.
"""

from dataclasses import dataclass, replace
from typing import Literal

from torch import Tensor

from playground.config import ModelConfig
from playground.model import Encoder
from playground.model.init import Linear
from playground.text import Tokenizer
from playground.text.tokenizer import draw_vectors


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

    @property
    def factor(self) -> str:
        """What one sublayer f multiplies a gradient by, in LaTeX; N' and f' are derivatives.

        Xiong et al. 2020, section 3, for both places of the norm; He et al. 2015, section 3.2, for the identity I.
        """
        f = "f' N'" if self.norm == "pre" else "f'"
        with_residual = f"I + {f}" if self.residual else f
        if self.norm != "post":
            return with_residual
        return f"N' ({with_residual})" if self.residual else f"N' {f}"


VARIANTS = tuple(Variant(norm, residual) for residual in (True, False) for norm in ("post", "pre", "none"))

BY_NAME = {variant.name: variant for variant in VARIANTS}


def common_config(config: ModelConfig, n_layers: int) -> ModelConfig:
    """Return what the six share of an architecture: all but the place of the norms and the residual connections.

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


def variant_config(config: ModelConfig, variant: Variant) -> ModelConfig:
    """Return what `common_config` returns, in another variant."""
    return replace(
        config,
        norm="none" if variant.norm == "none" else config.norm,
        norm_placement="pre" if variant.norm == "pre" else "post",
        residual=variant.residual,
    )


def with_variant(encoder: Encoder, variant: Variant, scale: float = 1.0) -> Encoder:
    """Return an encoder in another variant that shares its tensors; without norms it has fewer.

    Args:
        encoder: one of `common_config`; embeddings with a norm would stay as they are.
        variant: the other one.
        scale: linear maps' weights are copies times this, unless it is 1.
    """
    other, weights = Encoder(variant_config(encoder.config, variant), seed=None), encoder.state_dict()
    if scale != 1:
        maps = [f"{name}.weight" for name, module in encoder.named_modules() if isinstance(module, Linear)]
        weights |= {name: weights[name] * scale for name in maps}
    other.load_state_dict({name: weights[name] for name in other.state_dict()}, assign=True)
    return other.to(next(iter(weights.values())).device)


def draw_vocabulary(tokenizer: Tokenizer, config: ModelConfig, seed: int) -> Tensor | None:
    """Return the vector of every word of the text, in the order of their ids, (V, D); None with a token table."""
    if config.vocab_size:
        return None
    words = [tokenizer.id_to_token(i) for i in range(tokenizer.vocab_size)]
    return draw_vectors(words, config.embedding_width, seed)
