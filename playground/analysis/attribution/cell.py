"""One cell of a pattern: its q · k product by product, its rivals in the softmax, and what its weight moves.

Legend: T tokens, padding included, H heads, D = d_model.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from playground.analysis.attribution.head_maps import HeadMaps
from playground.analysis.effects.changed_stages import list_row_changes
from playground.analysis.tex import Floats
from playground.analysis.walkthrough import Walk
from playground.runs.arrays import Array


@dataclass(frozen=True)
class Products:
    """The d_head products of one q · k, the largest size first."""

    numbers: NDArray[np.intp]
    """(d_head,): which number of q and k each is of."""
    products: Floats
    """(d_head,): q_i k_i."""
    running: Floats
    """(d_head,): their sum so far; the last is q · k."""


@dataclass(frozen=True)
class Competition:
    """A query's allowed keys in the softmax, the highest score first."""

    keys: NDArray[np.intp]
    """(n,): their positions."""
    scores: Floats
    """(n,)"""
    weights: Floats
    """(n,)"""
    lead: Floats
    """(n,): how far the chosen key's score is above each; weights differ by the factor e^lead."""
    rank: int
    """The chosen key's place, from 1."""

    @property
    def ratios(self) -> Floats:
        """(n,): each key's weight over the chosen one's, e^−lead; infinite where that is beyond the range of floats."""
        with np.errstate(over="ignore"):
            return np.exp(-self.lead)

    @property
    def best_other(self) -> int | None:
        """The place in these arrays of the strongest key but the chosen one; None where there is no other."""
        return None if len(self.keys) == 1 else 1 if self.rank == 1 else 0


@dataclass(frozen=True)
class Moved:
    """What a weight w moves from the key to the query, w v, and where it ends up.

    A heavy weight on a short value moves little (Kobayashi et al. 2020, "Attention is Not Only a Weight").
    """

    value_norm: float
    """‖v‖ of the key, in this head."""
    moved_norm: float
    """‖w v‖"""
    head_shares: Floats
    """(T,): every key's share of the head's output z = Σ w v, by projection: (w v) · z / ‖z‖². They add up to 1, and a
    key that pulls against the others has a negative one. NaN where z is 0."""
    written_norm: float
    """‖W_O w v‖, with the columns of W_O that read this head."""
    output_share: float
    """The share of attention's output at that token, all heads together, by projection as above; b_O is no head's."""
    stream_norm: float
    """Length of the vector that attention's output is added to; NaN without residual connections."""
    token: int
    """Whose vector it is written to: the query, but with `head_merge="reshape"`."""

    @property
    def stream_share(self) -> float:
        """‖W_O w v‖ over the length of the stream that it is added to; NaN without residual connections."""
        return self.written_norm / self.stream_norm if self.stream_norm else math.nan


@np.errstate(invalid="ignore", over="ignore")
def multiply(walk: Walk) -> Products:
    """The products of the walk's query and key."""
    q, k = walk.of_query("attn.q").astype(np.float64), walk.layer["attn.k"][walk.head, walk.key]
    numbers = np.argsort(-np.abs(q * k), kind="stable")
    products = (q * k)[numbers]
    return Products(numbers, products, products.cumsum())


@np.errstate(invalid="ignore", over="ignore")
def compete(walk: Walk) -> Competition:
    """The walk's key among all that its query may attend to, itself among them, as the model itself computes it.

    Where changes set weights of the query, these are the weights before them.

    Raises:
        ValueError: the mask hides the key from the query.
    """
    if not walk.allowed[walk.key]:
        raise ValueError("a hidden key does not compete")
    keys = np.flatnonzero(walk.allowed)
    scores = walk.scaled()
    # Ties go to the chosen key, so that its rank says how many are stronger.
    keys = keys[np.lexsort((keys != walk.key, -scores[keys]))]
    rank = 1 + int(np.flatnonzero(keys == walk.key)[0])
    weights = walk.of_query("attn.pattern")[keys]
    if list_row_changes(walk):
        powers = np.exp(scores[keys] - scores[keys].max())
        weights = powers / powers.sum()
    return Competition(keys, scores[keys], weights, scores[walk.key] - scores[keys], rank)


def destination(walk: Walk) -> tuple[int, int]:
    """The token whose merged vector the head's output for the query lands in, and as which of its H pieces."""
    if walk.config.head_merge == "transpose":
        return walk.query, walk.head
    return divmod(walk.head * len(walk.layer.run.tokens) + walk.query, walk.config.n_heads)


@np.errstate(invalid="ignore", over="ignore", divide="ignore")
def move(walk: Walk, maps: HeadMaps) -> Moved:
    """What the walk's weight moves; the maps are those of its head, for the piece that `destination` names."""
    weights = walk.of_query("attn.pattern").astype(np.float64)  # (T,)
    values = walk.layer["attn.v"][walk.head].astype(np.float64)  # (T, d_head)
    z = weights @ values
    moved = weights[walk.key] * values[walk.key]
    token, _ = destination(walk)
    written = maps.o @ moved  # (D,)
    output = walk.layer["attn.out"][token].astype(np.float64)
    read = walk.layer["norm1.in" if walk.config.norm_placement == "pre" else "attn.in"][token]
    return Moved(
        value_norm=_length(values[walk.key]),
        moved_norm=_length(moved),
        head_shares=(weights[:, None] * values) @ z / (z @ z),
        written_norm=_length(written),
        output_share=float((written @ output) / (output @ output)),
        stream_norm=_length(read) if walk.config.residual else math.nan,
        token=token,
    )


def _length(vector: Floats | Array) -> float:
    return float(np.linalg.norm(vector.astype(np.float64)))
