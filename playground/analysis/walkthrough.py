"""One token's way through one head of one layer: its stages, and what stands where between them.

Legend: T tokens, padding included, H heads, D = d_model.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from playground.analysis.attention import merge_moves_results
from playground.analysis.tex import Floats
from playground.config import ModelConfig
from playground.model.positions import frequencies
from playground.runs.encoder_run import LayerRun

STAGES = (
    "embedding",
    "projections",
    "norm of q and k",
    "rotation",
    "dot products",
    "scale",
    "distance bias",
    "mask",
    "softmax",
    "weighted sum",
    "merge",
    "output projection",
    "norm after attention",
    "first residual",
    "first norm",
    "feed-forward",
    "norm after feed-forward",
    "second residual",
    "second norm",
)
"""Every stage, in the order of a post-norm block; `order` has those of an architecture."""


@dataclass(frozen=True)
class Walk:
    """What to follow through a layer: a head, the token that asks, and one that is asked."""

    layer: LayerRun
    head: int
    query: int
    key: int

    @property
    def config(self) -> ModelConfig:
        """The architecture that ran."""
        return self.layer.run.config

    @property
    def allowed(self) -> NDArray[np.bool_]:
        """(T,) bool: the keys that the query may attend to."""
        keys: NDArray[np.bool_] = self.layer.run.allowed_in(self.layer.layer)[self.query]
        return keys

    def of_query(self, name: str) -> Floats:
        """The query token's row of an array of this layer, or the head's if it has heads."""
        array = self.layer[name]
        row: Floats = array[self.head, self.query] if array.ndim == 3 else array[self.query]
        return row

    def computed(self, name: str) -> Floats:
        """The row of `of_query` as the model itself computed it, where a change then set other numbers."""
        array = self.layer.computed(name)
        row: Floats = array[self.head, self.query] if array.ndim == 3 else array[self.query]
        return row

    @property
    def first_sum(self) -> tuple[Floats, Floats]:
        """The two vectors (D,) that the first residual connection adds."""
        return self._stream_and_output("attn", "norm1")

    @property
    def second_sum(self) -> tuple[Floats, Floats]:
        """The two vectors (D,) that the second residual connection adds."""
        return self._stream_and_output("ffn", "norm2")

    def _stream_and_output(self, sublayer: str, norm: str) -> tuple[Floats, Floats]:
        reader = sublayer if self.config.norm_placement == "post" else norm  # of the stream, before the sublayer
        added = f"post_{norm}.out" if self.config.norm_placement == "both" else f"{sublayer}.out"
        return self.of_query(f"{reader}.in"), self.of_query(added)

    def dot_products(self) -> Floats:
        """The query with every key, (T,), before scale and mask."""
        products: Floats = self.layer["attn.k"][self.head].astype(np.float64) @ self.of_query("attn.q")
        return products

    def scaled(self) -> Floats:
        """The dot products over √d_head, (T,), before the mask."""
        return self.dot_products() / math.sqrt(self.config.head_width)

    def rotary_frequencies(self) -> Floats:
        """Radians by which each pair of features turns from one position to the next, in this layer: (d_head / 2,)."""
        found: Floats = frequencies(self.config.head_width, base=self.config.rotary_base_of(self.layer.layer)).numpy()
        return found

    def turn(self, x: Floats, places: ArrayLike) -> Floats:
        """Vectors turned by rotary positions: (…, d_head) at one place, or (…, tokens, d_head) at a place for each."""
        angles = np.multiply.outer(places, self.rotary_frequencies())  # (…, d_head / 2)
        cosines, sines = np.cos(angles), np.sin(angles)
        first, second = np.split(x, 2, axis=-1)
        return np.concatenate([first * cosines - second * sines, second * cosines + first * sines], axis=-1)

    def position_bias(self) -> Floats:
        """What the query's scores get by distance, (T,): zeros where the architecture adds nothing."""
        bias = self.layer.run.arrays.get("position_bias")
        found: Floats = np.zeros(len(self.layer.run.tokens)) if bias is None else bias[self.head, self.query]
        return found.astype(np.float64)

    def unmasked(self) -> Floats:
        """The scores, (T,), before the mask: the scaled products and what they get by distance."""
        return self.scaled() + self.position_bias()

    def projected(self, name: str) -> Floats:
        """The head's queries, keys or values, `q`, `k` or `v`, as the linear map gives them: (T, d_head)."""
        return self._of_head(name, "projected", "")

    def normed(self, name: str) -> Floats:
        """The head's queries or keys behind their norm, where there is one: (T, d_head)."""
        return self._of_head(name, "normed", "projected", "")

    def _of_head(self, name: str, *points: str) -> Floats:
        """The head's array at the first of these points that the trace has."""
        arrays, start = self.layer.run.arrays, f"layers.{self.layer.layer}.attn.{name}"
        found = next(key for point in points if (key := f"{start}_{point}" if point else start) in arrays)
        array: Floats = self.layer.run.computed.get(found, arrays[found])
        return array[self.head * len(array) // self.config.n_heads]  # type: ignore[no-any-return]

    @property
    def merge_moves_results(self) -> bool:
        """Whether joining the heads puts their results at other positions than the query's."""
        return merge_moves_results(self.config, len(self.layer.run.tokens))

    def pieces(self) -> list[tuple[int, int]]:
        """The head and the token that each d_head numbers of the merged vector come from, in order."""
        n_heads, n_tokens = self.config.n_heads, len(self.layer.run.tokens)
        if self.config.head_merge == "transpose":
            return [(head, self.query) for head in range(n_heads)]
        # Without the transpose, the pieces lie head by head, each head's tokens in a row; H of them make a vector.
        return [divmod(self.query * n_heads + i, n_tokens) for i in range(n_heads)]


def order(config: ModelConfig) -> tuple[str, ...]:
    """The stages in the order in which this architecture computes them."""
    has = {
        "norm of q and k": config.qk_norm,
        "rotation": config.positions == "rotary",
        "distance bias": config.has_position_bias,
        "norm after attention": config.norm_placement == "both",
        "norm after feed-forward": config.norm_placement == "both",
    }
    stages = [stage for stage in STAGES if has.get(stage, True)]
    if config.norm_placement != "post":
        stages = [stage for stage in stages if not stage.endswith(" norm")]
        stages.insert(stages.index("projections"), "first norm")
        stages.insert(stages.index("feed-forward"), "second norm")
    return tuple(stages)


@dataclass(frozen=True)
class Chapter:
    """Some stages that belong together, and the tutorial's own input for them."""

    name: str
    """What they are about: the end of its message's key."""
    stages: tuple[str, ...]
    shape: tuple[int, int, int]
    """Sentences, tokens and features of the input."""
    n_heads: int
    """Into which the tutorial splits those features."""
    has_positions: bool = False
    """Whether the tutorial adds positions to it."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """The tutorial's input as sentences of made-up words x0, x1, … that are all different."""
        n_sentences, n_tokens, _ = self.shape
        firsts = range(0, n_sentences * n_tokens, n_tokens)
        return tuple(" ".join(f"x{first + i}" for i in range(n_tokens)) for first in firsts)

    def own_sizes(self, config: ModelConfig) -> dict[str, Any]:
        """The config's fields that the input sets."""
        positions = config.positions if self.has_positions else "none"
        d_model = self.shape[-1]
        return {"d_model": d_model, "n_heads": self.n_heads, "d_ff": 4 * d_model, "positions": positions}


def tutorial_b(config: ModelConfig) -> tuple[Chapter, ...]:
    """The stages in the order in which tutorial B introduces them: from attention outwards."""
    attention = ("dot products", "scale", "mask", "softmax", "weighted sum")
    merge = ("merge", "output projection")
    inner = {"projections", *attention, *merge, "embedding"}
    block = tuple(stage for stage in order(config) if stage not in inner)
    return (
        Chapter("attention", attention, (5, 3, 8), n_heads=1),
        Chapter("self-attention", ("projections",), (2, 4, 8), n_heads=1),
        Chapter("multi-head-attention", merge, (2, 5, 16), n_heads=4),
        Chapter("positions", ("embedding",), (1, 10, 16), n_heads=4, has_positions=True),
        Chapter("the-block", block, (1, 10, 16), n_heads=4, has_positions=True),
    )
