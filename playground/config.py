"""The description of an architecture, `ModelConfig`, and how each field is set by hand."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal, get_args, get_origin

from playground.errors import ConfigError

NormPlacement = Literal["post", "pre", "both"]
Norm = Literal["layer", "scalar", "rms", "none"]
Activation = Literal["relu", "gelu", "gelu-tanh", "silu"]
ACTIVATION_NAMES: dict[Activation, str] = {"relu": "ReLU", "gelu": "GELU", "gelu-tanh": "GELU by tanh", "silu": "SiLU"}
Positions = Literal["sinusoidal", "sinusoidal-doubled", "learned", "rotary", "alibi", "relative", "none"]
PositionJoin = Literal["add", "concatenate"]
Tied = Literal["separate", "shared", "merged"]
HeadMerge = Literal["transpose", "reshape"]
Initialisation = Literal["xavier", "torch"]

POSITION_TABLES = ("sinusoidal", "sinusoidal-doubled", "learned")
"""Positions that join the embeddings."""

_HIGHEST = 2**31 - 1

PositiveInt = Annotated[int, (1, _HIGHEST)]
NonNegativeInt = Annotated[int, (0, _HIGHEST)]
"""Annotated with the lowest and the highest value."""


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """A transformer encoder's architecture (Vaswani et al. 2017, section 3, and its usual variants).

    Raises:
        ConfigError: a field has a wrong type or value, or does not fit another; the message says what would work.
    """

    vocab_size: NonNegativeInt
    """Rows of the token table; 0 = no table, raw vectors (tutorials B and C)."""
    d_model: PositiveInt = 512
    """Width of the residual stream."""
    n_heads: PositiveInt = 8
    """Attention heads; must divide `d_model` unless `d_head` is given."""
    n_kv_heads: NonNegativeInt = 0
    """Heads of keys and values (Ainslie et al. 2023); 1 is multi-query attention (Shazeer 2019); 0 = `n_heads`."""
    d_head: NonNegativeInt = 0
    """Width of one head; 0 = d_model / n_heads."""
    tied: Tied = "separate"
    """Maps of queries and keys. `shared`: one for both, W_K = W_Q, so that scores are symmetric before what distances
    add and the mask. `merged`: a head's W_Q W_Kᵀ is one map M (d_model × d_model, with a bias): queries are x M, keys
    are x itself, and scores are still divided by √d_head."""
    qk_norm: bool = False
    """A root mean square norm on each head's queries and keys, its gain shared by heads (Henry et al. 2020, times
    √d_head)."""
    n_layers: PositiveInt = 6
    """Encoder blocks."""
    share_layers: bool = False
    """One block's weights for all (Lan et al. 2019, ALBERT)."""
    d_ff: PositiveInt = 2048
    """Hidden width of the feed-forward network."""
    max_len: PositiveInt = 512
    """Rows of the position table."""
    dropout: float = 0.1
    """Probability in [0, 1), in training only."""
    norm_placement: NormPlacement = "post"
    """`post`: norm(x + f(x)); `pre`: x + f(norm(x)) (Xiong et al. 2020); `both`: x + norm(f(norm(x))) (Ding et al.
    2021)."""
    norm: Norm = "layer"
    """`layer`: gain and bias per feature (Ba et al. 2016); `scalar`: one of each; `rms`: no mean (Zhang & Sennrich
    2019)."""
    norm_eps: float = 1e-5
    """Added to the variance (`scalar`: the standard deviation) before dividing."""
    final_norm: bool = False
    """One more norm after the last block."""
    first_norm: bool = True
    """The norm before the first block's attention; ModernBERT leaves it out."""
    bias: bool = True
    """Of linear maps and norms."""
    activation: Activation = "relu"
    """`gelu-tanh` is GELU's approximation in BERT's first code and T5."""
    gated: bool = False
    """Multiply the activation's result by a third linear map (Shazeer 2020, equation 6)."""
    positions: Positions = "sinusoidal"
    """A table added to the embeddings: `sinusoidal`, `learned`, or `sinusoidal-doubled`, tutorial B's, whose exponent
    counts twice. Or in attention: `rotary` turns queries and keys (Su et al. 2021), `alibi` subtracts a multiple of the
    distance from each score (Press et al. 2022), `relative` adds a learned number (Raffel et al. 2020)."""
    position_join: PositionJoin = "add"
    """`concatenate`: tokens have the first half of each vector, a table's positions the second; with the positions
    `none` that half is 0."""
    position_offset: NonNegativeInt = 0
    """Row of the learned table for the first token (RoBERTa: 2); the row before it is padding's."""
    rotary_base: PositiveInt = 10_000
    """The larger, the slower positions turn."""
    local_rotary_base: NonNegativeInt = 0
    """Of layers with a window and their own weights; 0 = the same."""
    relative_buckets: PositiveInt = 32
    """Ranges of distances, half of them to either side."""
    relative_distance: PositiveInt = 128
    """From here on all distances are alike."""
    window: NonNegativeInt = 0
    """Tokens that a token may attend to, half of them to either side (Beltagy et al. 2020); 0 = all."""
    global_every: NonNegativeInt = 0
    """The first of so many layers has no window: 3 = layers 0, 3, 6, …; 0 = every layer has it."""
    scale_embeddings: bool = True
    """Multiply token embeddings by √d_model (Vaswani et al. 2017, section 3.4)."""
    embedding_norm: bool = False
    """As in BERT."""
    n_segments: NonNegativeInt = 0
    """Rows of the segment table, as in BERT; 0 = no table."""
    d_embedding: NonNegativeInt = 0
    """Width of the tables, brought to d_model by a linear map (Lan et al. 2019, ALBERT); 0 = d_model, no map."""
    fused_qkv: bool = False
    """One projection for Q, K and V: (head, [q k v], d_head) (tutorial C)."""
    head_merge: HeadMerge = "transpose"
    """`reshape` joins heads without moving the head axis back: tutorial C's mistake."""
    residual: bool = True
    """Add each sublayer's input to its output."""
    initialisation: Initialisation = "xavier"
    """Of random weights, by `model.init.initialise`; `torch`: as torch's own layers (the tutorials)."""

    @property
    def head_width(self) -> int:
        """Width of one head."""
        return self.d_head or self.d_model // self.n_heads

    @property
    def qk_width(self) -> int:
        """Width of a head's queries and keys."""
        return self.d_model if self.tied == "merged" else self.head_width

    @property
    def kv_heads(self) -> int:
        """Heads of keys and values."""
        return self.n_kv_heads or self.n_heads

    @property
    def embedding_width(self) -> int:
        """Width of the embeddings."""
        return self.d_embedding or self.d_model

    @property
    def table_width(self) -> int:
        """Columns of the tables of tokens and positions."""
        return self.embedding_width // (2 if self.position_join == "concatenate" else 1)

    @property
    def has_position_table(self) -> bool:
        """Whether positions join the embeddings."""
        return self.positions in POSITION_TABLES

    @property
    def has_position_bias(self) -> bool:
        """Whether scores get a number by distance."""
        return self.positions in ("alibi", "relative")

    def has_norm1(self, layer: int) -> bool:
        """Whether a block has a norm on its attention."""
        return self.first_norm or self.norm_placement == "post" or (layer > 0 and not self.share_layers)

    def window_of(self, layer: int) -> int:
        """The window of a layer; 0 = none."""
        return 0 if self.global_every and layer % self.global_every == 0 else self.window

    def rotary_base_of(self, layer: int) -> int:
        """A layer's base of rotary positions."""
        is_local = self.window_of(layer) > 0 and not self.share_layers
        return self.local_rotary_base if self.local_rotary_base and is_local else self.rotary_base

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
        if self.norm == "scalar" and self.d_embedding == 1:
            raise ConfigError("d_embedding", 1, "has no unbiased standard deviation to divide by", (2,))
        if not self.d_head and self.d_model % self.n_heads:
            raise ConfigError(
                "n_heads",
                self.n_heads,
                f"does not divide d_model={self.d_model}: every head gets an equal slice of the "
                f"{self.d_model} features, and {self.d_model} / {self.n_heads} is not a whole number",
                nearest_divisors(self.d_model, self.n_heads),
            )
        self._check_attention()
        self._check_join()

    def _check_attention(self) -> None:
        if self.n_heads % self.kv_heads:
            raise ConfigError(
                "n_kv_heads",
                self.n_kv_heads,
                f"does not divide n_heads={self.n_heads}: each head of keys and values is read by equally many heads",
                nearest_divisors(self.n_heads, self.n_kv_heads),
            )
        if self.fused_qkv and self.kv_heads != self.n_heads:
            reason = f"lays queries, keys and values out head by head, and n_kv_heads={self.kv_heads} is another count"
            raise ConfigError("fused_qkv", True, reason, (False,))
        if self.tied != "separate" and (self.fused_qkv or self.kv_heads != self.n_heads):
            reason = "takes no map of keys, so it goes with neither fused_qkv nor n_kv_heads"
            raise ConfigError("tied", self.tied, reason, ("separate",))
        if self.tied == "merged" and self.qk_norm:
            raise ConfigError("tied", self.tied, "has no keys of a head's own for qk_norm", ("separate", "shared"))
        if self.window % 2:
            raise ConfigError("window", self.window, "has no half for either side", (self.window - 1, self.window + 1))
        if self.positions == "rotary" and self.tied == "merged" and self.d_model % 2:
            reason = f"makes queries of {self.d_model} features, and rotary positions turn pairs of them"
            raise ConfigError("tied", self.tied, reason, ("separate",))
        if self.positions == "rotary" and self.qk_width % 2:
            reason = f"makes heads of {self.head_width} features, and rotary positions turn pairs of them"
            raise ConfigError("d_head", self.d_head, reason, (self.head_width + 1,))
        if self.positions == "relative" and (self.relative_buckets < 4 or self.relative_buckets % 4):
            reason = (
                "is not a multiple of 4: half of the buckets are for either side, and half of these for one distance"
            )
            raise ConfigError(
                "relative_buckets", self.relative_buckets, reason, (max(4, self.relative_buckets // 4 * 4),)
            )
        if self.positions == "relative" and self.relative_distance <= self.relative_buckets // 4:
            reason = f"is not above {self.relative_buckets // 4}, the distances that have a bucket each"
            raise ConfigError("relative_distance", self.relative_distance, reason, (self.relative_buckets // 4 + 1,))

    def _check_join(self) -> None:
        if self.position_join == "add":
            return
        reason = None
        if self.positions not in (*POSITION_TABLES, "none"):
            reason = f"needs a table of positions, and positions={self.positions!r} work in attention"
        elif not self.vocab_size:
            reason = "needs a token table, and vocab_size=0 is none"
        elif self.embedding_width % 2:
            reason = f"gives tokens half of each vector, and {self.embedding_width} features have no half"
        if reason is not None:
            raise ConfigError("position_join", self.position_join, reason, ("add",))


CHOICES: dict[str, tuple[str, ...]] = {
    field.name: get_args(field.type) for field in fields(ModelConfig) if get_origin(field.type) is Literal
}
"""The values of each choice field."""


SettingGroup = Literal[
    "size",
    "attention",
    "positions",
    "norms, residuals, biases",
    "feed-forward and embeddings",
    "initial weights and dropout",
]
"""In the sidebar's order."""


@dataclass(frozen=True)
class Setting:
    """How a field is set by hand: a slider with stops, a word of `CHOICES`, or a switch."""

    group: SettingGroup
    stops: tuple[float, ...] = ()
    needs: Callable[[Mapping[str, Any]], bool] | None = None

    def has_effect(self, values: Mapping[str, Any]) -> bool:
        """Whether it changes anything beside the other fields' values."""
        return self.needs is None or self.needs(values)


_HEADS = (*range(1, 17), 20, 24, 25, 32, 48, 64, 96)
_WIDTHS = (8, 15, 16, 24, 32, 48, 64, 96, 128, 192, 256, 320, 384, 512, 640, 768, 1024, 1600, 2048, 4096, 12288)
_HIDDEN = (8, 16, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1152, 1536, 2048, 2624, 3072, 4096, 6400, 8192)
_BASES = (100, 500, 1_000, 10_000, 100_000, 160_000, 500_000, 1_000_000)
_NORMS: SettingGroup = "norms, residuals, biases"
_EMBEDDINGS: SettingGroup = "feed-forward and embeddings"
_START: SettingGroup = "initial weights and dropout"

SETTINGS: dict[str, Setting] = {
    "d_model": Setting("size", _WIDTHS),
    "n_heads": Setting("attention", _HEADS),
    "n_kv_heads": Setting("attention", (0, *_HEADS)),
    "d_head": Setting("attention", (0, 1, 2, 4, 6, 8, 10, 12, 16, 24, 32, 40, 48, 64, 80, 96, 128, 256)),
    "tied": Setting("attention"),
    "qk_norm": Setting("attention"),
    "n_layers": Setting("size", (*range(1, 13), 16, 22, 24, 28, 32, 48, 96)),
    "share_layers": Setting("size"),
    "d_ff": Setting("size", (*_HIDDEN, 16384, 49152)),
    "norm_placement": Setting(_NORMS),
    "norm": Setting(_NORMS),
    "norm_eps": Setting(_NORMS, (1e-12, 1e-08, 1e-06, 1e-05, 0.001, 0.1)),
    "final_norm": Setting(_NORMS),
    "first_norm": Setting(_NORMS, needs=lambda values: values["norm_placement"] != "post"),
    "bias": Setting(_NORMS),
    "residual": Setting(_NORMS),
    "activation": Setting(_EMBEDDINGS),
    "gated": Setting(_EMBEDDINGS),
    "positions": Setting("positions"),
    "position_join": Setting("positions", needs=lambda values: values["positions"] in POSITION_TABLES),
    "position_offset": Setting("positions", (0, 1, 2), needs=lambda values: values["positions"] == "learned"),
    "rotary_base": Setting("positions", (30, *_BASES), needs=lambda values: values["positions"] == "rotary"),
    "local_rotary_base": Setting(
        "positions", (0, *_BASES), needs=lambda values: values["positions"] == "rotary" and values["window"] > 0
    ),
    "relative_buckets": Setting(
        "positions", (4, 8, 16, 32, 64, 128), needs=lambda values: values["positions"] == "relative"
    ),
    "relative_distance": Setting(
        "positions", (8, 14, 16, 32, 64, 128, 256, 512), needs=lambda values: values["positions"] == "relative"
    ),
    "window": Setting("attention", (0, 2, 4, 6, 8, 12, 16, 32, 64, 128, 256)),
    "global_every": Setting("attention", (0, 1, 2, 3, 4, 6, 8), needs=lambda values: values["window"] > 0),
    "scale_embeddings": Setting(_EMBEDDINGS),
    "embedding_norm": Setting(_NORMS),
    "n_segments": Setting(_EMBEDDINGS, (0, 1, 2)),
    "d_embedding": Setting("size", (0, 8, 16, 32, 64, 128, 256, 512)),
    "fused_qkv": Setting("attention"),
    "head_merge": Setting("attention"),
    "initialisation": Setting(_START),
    "dropout": Setting(_START, (0.0, 0.1, 0.2, 0.3, 0.5)),
    "max_len": Setting(_START, (5, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 5000, 8192)),
}
"""Every field but `vocab_size`, in the sidebar's order."""


_LATER = ("tied", "position_join")
"""Fields younger than the first files and links."""


def describe_config(config: ModelConfig) -> dict[str, Any]:
    """Return the fields for files and keys; younger ones only where they differ from their default."""
    young = {field.name: field.default for field in fields(ModelConfig) if field.name in _LATER}
    return {name: value for name, value in vars(config).items() if name not in young or value != young[name]}


def nearest_divisors(whole: int, part: int) -> tuple[int, ...]:
    """Return the divisors of `whole` next to `part`, nearest first."""
    divisors = {n for low in range(1, math.isqrt(whole) + 1) if whole % low == 0 for n in (low, whole // low)}
    below = max((n for n in divisors if n < part), default=None)
    above = min((n for n in divisors if n > part), default=None)
    return tuple(sorted((n for n in (below, above) if n is not None), key=lambda n: abs(n - part)))


def check_fields(config: Any, error: type[ConfigError], **works: object) -> None:
    """Raise the error for the first field that its annotation does not allow; `works` has values to suggest."""
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
