"""One attention score as a sum over pairs of sources: what wrote the query's vector × what wrote the key's.

The score is bilinear: s = (W_Q x_q + b_Q) · (W_K x_k + b_K) / √d_head. With x_q and x_k split by source, it is a matrix
that adds up to s (Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits"). Legend: S sources.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from playground.analysis.attribution.head_maps import HeadMaps
from playground.analysis.attribution.stream_sources import BIASES, CHANGES, Source, StreamSplit
from playground.analysis.tex import Floats
from playground.analysis.walkthrough import Walk


@dataclass(frozen=True)
class ScoreSplit:
    """A score by source, and its difference to an opponent's by source.

    The softmax sees differences of scores alone. So `relative` has each contribution minus the opponent's: why this
    key, rather than that one. The opponent is another key, or the mean of all that the query may attend to.
    """

    sources: tuple[Source, ...]
    matrix: Floats
    """(S, S), source of the query × source of the key; b_Q and b_K count as biases."""
    relative: Floats
    """(S, S), the same minus the opponent's."""
    score: float
    """What the model computed, before any mask."""
    opponent_score: float
    """The opponent's; NaN where that is the mean of no keys."""
    opponent: int | None = None
    """The opponent's position; None: the mean over the keys that the query may attend to."""

    @property
    def lead(self) -> float:
        """How far the score is above the opponent's; below 0 where the opponent's is higher."""
        return self.score - self.opponent_score

    @property
    def remainder(self) -> float:
        """What of the score the matrix leaves out: rounding, as long as all numbers are finite."""
        return self.score - float(self.matrix.sum())

    @property
    def relative_remainder(self) -> float:
        """What of the lead the relative matrix leaves out."""
        return self.lead - float(self.relative.sum())

    @property
    def by_key_source(self) -> Floats:
        """(S,): the lead by what wrote the key's vector and the opponent's."""
        return self.relative.sum(axis=0)  # type: ignore[no-any-return]

    @property
    def by_query_source(self) -> Floats:
        """(S,): the lead by what wrote the query's vector."""
        return self.relative.sum(axis=1)  # type: ignore[no-any-return]


@np.errstate(invalid="ignore", over="ignore")  # numbers beyond the range of floats end as NaN
def split_score(walk: Walk, stream: StreamSplit, maps: HeadMaps, opponent: int | None = None) -> ScoreSplit:
    """Split the score of a walk's query and key, and its difference to the opponent's.

    Args:
        walk: whose query asks, and whose key is asked.
        stream: of the walk's layer.
        maps: of its head.
        opponent: the key to compare with; None compares with the mean over the keys that the query may attend to.
    """
    scores, compared = walk.scaled(), walk.allowed if opponent is None else np.arange(len(walk.allowed)) == opponent
    sources, parts = stream.sources, stream.parts
    changed_q, changed_k = (_changes_of(walk, name) for name in ("q", "k"))
    if CHANGES not in sources and (changed_q.any() or changed_k.any()):
        sources, parts = (CHANGES, *sources), np.concatenate([np.zeros_like(parts[:1]), parts])
    query_parts = _project(sources, parts[:, walk.query], maps.q, maps.q_bias, changed_q[walk.query])  # (S, d_head)
    key_parts = _project(sources, parts[:, walk.key], maps.k, maps.k_bias, changed_k[walk.key])
    matrix = query_parts @ key_parts.T / math.sqrt(walk.config.d_head)
    score = float(scores[walk.key])
    if not compared.any():
        return ScoreSplit(sources, matrix, np.full_like(matrix, math.nan), score, math.nan)
    mean_parts = parts[:, compared].mean(axis=1, dtype=np.float64)
    opponent_parts = _project(sources, mean_parts, maps.k, maps.k_bias, changed_k[compared].mean(axis=0))  # (S, d_head)
    relative = query_parts @ (key_parts - opponent_parts).T / math.sqrt(walk.config.d_head)
    return ScoreSplit(sources, matrix, relative, score, float(scores[compared].mean()), opponent)


def _changes_of(walk: Walk, name: str) -> Floats:
    """What changes of this layer's queries or keys themselves, `q` or `k`, add to the head's: (T, d_head)."""
    change = walk.layer.run.change(f"layers.{walk.layer.layer}.attn.{name}")
    shape = walk.layer[f"attn.{name}"][walk.head].shape
    return np.zeros(shape) if change is None else change[walk.head].astype(np.float64)


def _project(sources: Sequence[Source], parts: Floats, weight: Floats, bias: Floats, change: Floats) -> Floats:
    """(S, D) → (S, d_head); the map's bias joins the biases, and what was changed behind the map the changes."""
    projected = parts.astype(np.float64) @ weight.T
    projected[sources.index(BIASES)] += bias
    if CHANGES in sources:
        projected[sources.index(CHANGES)] += change
    return projected
