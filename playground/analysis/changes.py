"""What the visitor's changes do: where they act, by which formula, and how far vectors then are from untouched ones.

A stage of a walk is worked out as the model computes it (`steps`); what a change then sets follows here, as the run
recorded it. Legend: T tokens, D = d_model, L layers. A depth counts the blocks passed: 0 is the embeddings, L the last.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from playground.analysis.sentences import Pooling, sentence_vector
from playground.analysis.streams import l2, residual_stream
from playground.analysis.tex import Floats, number
from playground.analysis.walkthrough import Walk, order
from playground.errors import InputError
from playground.model.change_texts import write_formula
from playground.model.changes import Change
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run

_POINTS = {
    "embedding": (("embed.sum", "x_t"), ("embed.out", "x_t")),
    "projections": (("attn.v", "v_j"),),
    "mask": (("attn.scores", "s_{t,j}"),),
    "softmax": (("attn.pattern", "a_{t,j}"),),
    "weighted sum": (("attn.z", "z_t"),),
    "output projection": (("attn.out", "o_t"),),
    "first residual": (("resid_mid", "x'_t"),),
    "feed-forward": (("ffn.out", "f_t"),),
}
"""By stage, the points of the trace that a change may set after it, and their symbols."""

_MEETING = (("attn.q", "q_t"), ("attn.k", "k_j"))
"""The points that a change may set before queries and keys meet, and their symbols."""

_LAST = (("out", "y_t"),)
"""The points that a change may set after the last stage of a block, and their symbols."""


@dataclass(frozen=True)
class ChangedPoint:
    """What changes set at one point of a walk."""

    point: str
    """Its name in the trace, without its layer's."""
    symbol: str
    changes: tuple[Change, ...]
    """Those that act on these numbers, in the order in which they do."""
    formulas: tuple[str, ...]
    """LaTeX, one a change; then the first number, or the chosen key's, before and after them."""
    before: Floats
    """(D,), (d_head,), or (T,) a number a key: as the model computed it."""
    after: Floats
    """What went on instead."""


def list_changed_points(walk: Walk, stage: str) -> list[ChangedPoint]:
    """The points after a stage whose numbers, of this walk's tokens and head, changes have set."""
    stages = order(walk.config)
    points = _POINTS.get(stage, ()) + (_LAST if stage == stages[-1] else ())
    met = next(each for each in ("rotation", "norm of q and k", "projections") if each in stages)
    points = (_MEETING if stage == met else ()) + points
    found = (_change_point(walk, point, symbol) for point, symbol in points)
    return [each for each in found if each is not None]


def list_row_changes(walk: Walk) -> tuple[Change, ...]:
    """The changes that set weights of the walk's query in its head, before the softmax or after it."""
    points = [*list_changed_points(walk, "mask"), *list_changed_points(walk, "softmax")]
    return tuple(change for point in points for change in point.changes)


def _change_point(walk: Walk, point: str, symbol: str) -> ChangedPoint | None:
    run, name = walk.layer.run, point if point.startswith("embed") else f"layers.{walk.layer.layer}.{point}"
    token = walk.key if point in ("attn.k", "attn.v") else walk.query
    changes = tuple(each for each in run.changes_at(name) if _acts_on(each, run, walk.head, token))
    if not changes or name not in run.computed:
        return None
    before, after = (arrays[name] for arrays in (run.computed, run.arrays))
    row = (walk.head, token) if before.ndim == 3 else (token,)
    place = walk.key if point in ("attn.scores", "attn.pattern") else 0
    first = symbol if place or point in ("attn.scores", "attn.pattern") else symbol.replace("_", "_{", 1) + ",0}"
    numbers = rf"{first}: \quad {number(before[row][place])} \;\to\; {number(after[row][place])}"
    formulas = (*(write_formula(each, symbol, number) for each in changes), numbers)
    return ChangedPoint(point, symbol, changes, formulas, before[row], after[row])


def _acts_on(change: Change, run: Run, head: int, token: int) -> bool:
    """Whether a change sets numbers of this head and this token."""
    is_reader = token != change["key"] and not run.padding[token]  # of a token that is hidden from every other
    is_of_token = is_reader if change.kind == "hide" else change["query"] in (None, token)
    return is_of_token and change.head in (None, head)


def list_places(changes: Iterable[Change]) -> list[tuple[int, int | None]]:
    """The first depth that each change reaches, and the token that it changes there, None for all; each place once.

    Every query reads a key and a value, so a patch of these reaches all tokens.
    """
    return list(
        dict.fromkeys(
            (each.first_layer + 1, None if each["point"] in ("k", "v") else each["query"]) for each in changes
        )
    )


@dataclass(frozen=True)
class VectorChange:
    """How far vectors have moved: arrays of the vectors' shape without D, NaN where a number has left fp32's range."""

    cosine: Array
    """Of the angle between before and after, from -1 to 1; 1 where nothing has changed, 0 to a vector of zeros."""
    relative: Array
    """The length of the difference, by that of the vector before; infinite where that was zero."""


def compare_vectors(before: Array, after: Array) -> VectorChange:
    """The change of each vector: (…, D) twice, in float64 → (…)."""
    wide, moved = before.astype(np.float64), after.astype(np.float64)
    is_same = (before == after).all(axis=-1)
    lengths, moved_lengths = l2(before).astype(np.float64), l2(after).astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        apart = np.sqrt(np.square(moved - wide).sum(axis=-1))
        products = (wide * moved).sum(axis=-1)
        cosine = np.where((lengths == 0) | (moved_lengths == 0), 0.0, products / (lengths * moved_lengths))
        relative = apart / lengths
    is_lost = ~np.isfinite(lengths + moved_lengths)
    return VectorChange(
        np.where(is_lost, np.nan, np.where(is_same, 1.0, np.clip(cosine, -1, 1))).astype(np.float32),
        np.where(is_lost, np.nan, np.where(is_same, 0.0, relative)).astype(np.float32),
    )


def stream_change(before: Run, after: Run) -> VectorChange:
    """The change of every token's vector between the blocks: (L + 1, T), padding left out.

    Raises:
        InputError: the two are not runs of the same tokens in the same shape of model.
    """
    _check_pair(before, after)
    return compare_vectors(residual_stream(before), residual_stream(after))


def sentence_change(before: Run, after: Run, pooling: Pooling = "mean") -> VectorChange:
    """The change of the sentence's vector, a number each. Errors as in `stream_change`."""
    _check_pair(before, after)
    return compare_vectors(sentence_vector(before, pooling), sentence_vector(after, pooling))


def _check_pair(before: Run, after: Run) -> None:
    sizes = {(run.config.n_layers, run.config.n_heads, run.config.d_model) for run in (before, after)}
    if before.tokens != after.tokens or len(sizes) > 1:
        raise InputError("Two runs are compared vector by vector where both read the same tokens in the same shape.")
