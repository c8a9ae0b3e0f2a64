"""The one description of an architecture: every model, count, chart and link starts from a `ModelConfig`."""

import math
from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal, get_args, get_origin

from playground.errors import ConfigError

NormPlacement = Literal["post", "pre"]
Norm = Literal["layer", "scalar", "rms", "none"]
Activation = Literal["relu", "gelu", "silu"]
Positions = Literal["sinusoidal", "sinusoidal-doubled", "learned", "none"]
HeadMerge = Literal["transpose", "reshape"]
Initialisation = Literal["xavier", "torch"]

_HIGHEST = 2**31 - 1
"""Of every whole number; far above any model, low enough to look for divisors at once."""

PositiveInt = Annotated[int, (1, _HIGHEST)]
NonNegativeInt = Annotated[int, (0, _HIGHEST)]
"""0 = without; an annotation has the lowest and the highest value of a number, both allowed."""


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """A transformer encoder's architecture (Vaswani et al. 2017, section 3, and its usual variants).

    Raises:
        ConfigError: a field has a wrong type, is out of range, or does not fit another field. The message names the
            field, its value, and a value that would work.
    """

    vocab_size: NonNegativeInt
    """Rows of the token table; 0 = no table, the encoder takes raw vectors (tutorials B and C)."""
    d_model: PositiveInt = 512
    """Width of the residual stream: numbers per token."""
    n_heads: PositiveInt = 8
    """Attention heads; must divide `d_model`."""
    n_layers: PositiveInt = 6
    """Encoder blocks."""
    d_ff: PositiveInt = 2048
    """Hidden width of the feed-forward network."""
    max_len: PositiveInt = 512
    """Longest sentence, in tokens: rows of the position table."""
    dropout: float = 0.1
    """Probability in [0, 1) that a number is zeroed; only while training."""
    norm_placement: NormPlacement = "post"
    """`post`: norm(x + f(x)), the paper's; `pre`: x + f(norm(x)) (Xiong et al. 2020)."""
    norm: Norm = "layer"
    """`layer`: gain and bias per feature (Ba et al. 2016); `scalar`: one of each for all features (tutorial A);
    `rms`: no mean, no bias (Zhang & Sennrich 2019); `none`: no normalisation."""
    norm_eps: float = 1e-5
    """Added to the variance (for `scalar`: to the standard deviation) before dividing."""
    final_norm: bool = False
    """One more norm after the last block."""
    activation: Activation = "relu"
    """Between the feed-forward's two linear maps."""
    positions: Positions = "sinusoidal"
    """How a token's place is told; `sinusoidal-doubled` is tutorial B's table, whose exponent counts twice."""
    scale_embeddings: bool = True
    """Multiply token embeddings by √d_model (Vaswani et al. 2017, section 3.4)."""
    embedding_norm: bool = False
    """A norm on the summed embeddings, as in BERT."""
    n_segments: NonNegativeInt = 0
    """Rows of the segment table, as in BERT; 0 = no table."""
    fused_qkv: bool = False
    """One projection for Q, K and V, laid out head by head: (head, [q k v], d_head) (tutorial C)."""
    head_merge: HeadMerge = "transpose"
    """`reshape` joins the heads without moving the head axis back: tutorial C's mistake, it mixes positions."""
    residual: bool = True
    """Add each sublayer's input to its output."""
    initialisation: Initialisation = "xavier"
    """How random weights are drawn, by `model.init.initialise`; `torch`: as torch's own layers do (the tutorials)."""

    @property
    def d_head(self) -> int:
        """Width of one head: d_model / n_heads."""
        return self.d_model // self.n_heads

    def __post_init__(self) -> None:
        has_heads = isinstance(self.n_heads, int) and 1 <= self.n_heads <= _HIGHEST // 64
        fitting = 64 * self.n_heads if has_heads else 64
        check_fields(self, ConfigError, d_model=fitting, n_heads=1)
        if not _is_number(self.dropout) or not 0 <= self.dropout < 1:
            raise ConfigError("dropout", self.dropout, "is not a probability in [0, 1)", (0.0, 0.1))
        if not _is_number(self.norm_eps) or not 0 < self.norm_eps < 1:
            raise ConfigError("norm_eps", self.norm_eps, "is not between 0 and 1", (1e-5,))
        if self.norm == "scalar" and self.d_model < 2:
            raise ConfigError("d_model", self.d_model, "has no unbiased standard deviation to divide by", (fitting,))
        if self.d_model % self.n_heads:
            raise ConfigError(
                "n_heads",
                self.n_heads,
                f"does not divide d_model={self.d_model}: every head gets an equal slice of the "
                f"{self.d_model} features, and {self.d_model} / {self.n_heads} is not a whole number",
                nearest_divisors(self.d_model, self.n_heads),
            )


CHOICES: dict[str, tuple[str, ...]] = {
    field.name: get_args(field.type) for field in fields(ModelConfig) if get_origin(field.type) is Literal
}
"""What each choice field may be set to."""


def nearest_divisors(whole: int, part: int) -> tuple[int, ...]:
    """The divisors of `whole` next to `part` on either side, nearest first; at most two."""
    divisors = {n for low in range(1, math.isqrt(whole) + 1) if whole % low == 0 for n in (low, whole // low)}
    below = max((n for n in divisors if n < part), default=None)
    above = min((n for n in divisors if n > part), default=None)
    return tuple(sorted((n for n in (below, above) if n is not None), key=lambda n: abs(n - part)))


def check_fields(config: Any, error: type[ConfigError], **works: object) -> None:
    """Raise the error for the first choice, switch or number of a dataclass that its annotation does not allow.

    `works` has values that would, by field, where not every value between the bounds does.
    """
    for name, kind in ((field.name, field.type) for field in fields(config)):
        value = vars(config)[name]
        if get_origin(kind) is Literal and value not in get_args(kind):
            raise error(name, value, "is not a choice", get_args(kind))
        if kind is bool and not isinstance(value, bool):
            raise error(name, value, "is not a switch", (True, False))
        if get_origin(kind) is Annotated:
            number, (low, high) = get_args(kind)
            if not _is_number(value) or (number is int and not isinstance(value, int)):
                reason = "is not a whole number" if number is int else "is not a number"
                raise error(name, value, reason, (works.get(name, low),))
            if not low <= value <= high:  # nor is NaN
                nearest = high if value > high else low
                raise error(name, value, f"is not between {low:,} and {high:,}", (works.get(name, nearest),))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
