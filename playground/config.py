"""The one description of an architecture: every model, count, chart and link starts from a `ModelConfig`."""

import math
from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal, get_args, get_origin

from playground.errors import ConfigError
from playground.limits import MAX_TOKENS

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


@dataclass(frozen=True)
class Setting:
    """How somebody sets a field by hand: on a slider, by a word of `CHOICES`, or by a switch."""

    label: str
    help_text: str
    stops: tuple[float, ...] = ()
    """Where a slider stops, smallest first; none for words and switches."""


SETTINGS: dict[str, Setting] = {
    "d_model": Setting(
        "width",
        "Width of the residual stream: how many numbers stand for one token.",
        (8, 15, 16, 24, 32, 48, 64, 96, 128, 192, 256, 320, 384, 512, 640, 768, 1024, 1600, 2048, 4096, 12288),
    ),
    "n_heads": Setting(
        "attention heads",
        "Attention heads. Each works on d_model / n_heads features, so n_heads must divide d_model.",
        (*range(1, 17), 20, 24, 25, 32, 48, 64, 96),
    ),
    "n_layers": Setting(
        "layers",
        "Encoder blocks, one after the other.",
        (*range(1, 13), 16, 24, 32, 48, 96),
    ),
    "d_ff": Setting(
        "feed-forward width",
        "Hidden width of the feed-forward network; usually 4 × d_model.",
        (8, 16, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6400, 8192, 16384, 49152),
    ),
    "norm_placement": Setting(
        "norm placement",
        "post: norm(x + f(x)), as in the paper. pre: x + f(norm(x)), easier to train when deep.",
    ),
    "norm": Setting(
        "kind of norm",
        "layer: gain and bias per feature. scalar: one of each for all, as in tutorial A · Implementing an "
        "Encoder. rms: no mean, no bias.",
    ),
    "norm_eps": Setting(
        "epsilon of the norms",
        "Added before dividing, so that nothing is divided by zero.",
        (1e-12, 1e-8, 1e-6, 1e-5, 1e-3, 1e-1),
    ),
    "final_norm": Setting(
        "norm after the last layer",
        "One more norm after the last block.",
    ),
    "residual": Setting(
        "residual connections",
        "Add each sublayer's input to its output.",
    ),
    "activation": Setting(
        "activation function",
        "Between the feed-forward network's two linear maps.",
    ),
    "positions": Setting(
        "position table",
        "How a token's place is told. sinusoidal-doubled is the table of tutorial B · Encoder Block: its "
        "exponent counts twice.",
    ),
    "scale_embeddings": Setting(
        "scaled embeddings",
        "Multiply token embeddings by √d_model, as in the paper.",
    ),
    "embedding_norm": Setting(
        "norm on the embeddings",
        "A norm on the summed embeddings, as in BERT.",
    ),
    "n_segments": Setting(
        "segments",
        "Rows of the segment table, as in BERT; 0 is none.",
        (0, 1, 2),
    ),
    "fused_qkv": Setting(
        "one map for Q, K and V",
        "One projection for Q, K and V, laid out head by head, as in tutorial C · Explanation.",
    ),
    "head_merge": Setting(
        "joining the heads",
        "reshape forgets to move the head axis back: the mistake of tutorial C · Explanation. It mixes positions.",
    ),
    "initialisation": Setting(
        "initial weights",
        "How random weights are drawn. xavier: linear maps small enough for deep models (Glorot & Bengio "
        "2010), and token tables so that positions are about as long as tokens. torch: as torch's own layers do, and "
        "so the tutorials; tokens dwarf positions.",
    ),
    "dropout": Setting(
        "dropout rate",
        "The share of numbers that a model zeroes while it learns. No page runs with it. The page Steps "
        "shows where it would act. What trains here has rates of its own, among its regularisers.",
        (0.0, 0.1, 0.2, 0.3, 0.5),
    ),
    "max_len": Setting(
        "longest sentence",
        "Longest sentence in tokens: the number of rows in the position table. This server reads at most "
        f"{MAX_TOKENS:,} tokens of a sentence, whatever stands here.",
        (5, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 5000),
    ),
}
"""Every field but `vocab_size`, which follows from the tokens; in the sidebar's order."""


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
