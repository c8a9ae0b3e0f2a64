"""Where the visitor's changes act in a walk: after which stage, on which of its numbers, and by which formula.

A stage is worked out as the model computes it (`steps`); what a change then sets follows here, as the run recorded it.
"""

from dataclasses import dataclass

from playground.analysis.tex import Floats, number
from playground.analysis.walkthrough import Walk, order
from playground.model.interventions import (
    AverageHead,
    HideToken,
    Intervention,
    PatchVector,
    SetRow,
    SetWeight,
    ShufflePositions,
)
from playground.runs.encoder_run import Run

_POINTS = {
    "embedding": (("embed.sum", "x_t"), ("embed.out", "x_t")),
    "projections": (("attn.q", "q_t"), ("attn.k", "k_j"), ("attn.v", "v_j")),
    "mask": (("attn.scores", "s_{t,j}"),),
    "softmax": (("attn.pattern", "a_{t,j}"),),
    "weighted sum": (("attn.z", "z_t"),),
    "output projection": (("attn.out", "o_t"),),
    "first residual": (("resid_mid", "x'_t"),),
    "feed-forward": (("ffn.out", "f_t"),),
}
"""By stage, the points of the trace that a change may set after it, and their symbols."""

_LAST = (("out", "y_t"),)
"""The points that a change may set after the last stage of a block, and their symbols."""


@dataclass(frozen=True)
class ChangedPoint:
    """What changes set at one point of a walk."""

    point: str
    """Its name in the trace, without its layer's."""
    symbol: str
    changes: tuple[Intervention, ...]
    """Those that act on these numbers, in the order in which they do."""
    formulas: tuple[str, ...]
    """LaTeX, one a change; then the first number, or the chosen key's, before and after them."""
    before: Floats
    """(D,), (d_head,), or (T,) a number a key: as the model computed it."""
    after: Floats
    """What went on instead."""


def list_changed_points(walk: Walk, stage: str) -> list[ChangedPoint]:
    """The points after a stage whose numbers, of this walk's tokens and head, changes have set."""
    points = _POINTS.get(stage, ()) + (_LAST if stage == order(walk.config)[-1] else ())
    found = (_change_point(walk, point, symbol) for point, symbol in points)
    return [each for each in found if each is not None]


def list_row_changes(walk: Walk) -> tuple[Intervention, ...]:
    """The changes that set weights of the walk's query in its head, before the softmax or after it."""
    points = [*list_changed_points(walk, "mask"), *list_changed_points(walk, "softmax")]
    return tuple(change for point in points for change in point.changes)


def list_output_changes(walk: Walk) -> tuple[Intervention, ...]:
    """The changes that set what the head has gathered for the walk's query, or what attention adds for it."""
    points = [*list_changed_points(walk, "weighted sum"), *list_changed_points(walk, "output projection")]
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
    formulas = (*(_write(each, symbol) for each in changes), numbers)
    return ChangedPoint(point, symbol, changes, formulas, before[row], after[row])


def _acts_on(change: Intervention, run: Run, head: int, token: int) -> bool:
    """Whether a change sets numbers of this head and this token."""
    heads = getattr(change, "head", None)
    if isinstance(change, HideToken):
        return heads in (None, head) and token != change.key and not run.padding[token]
    tokens = change.token if isinstance(change, PatchVector) else getattr(change, "query", None)
    return heads in (None, head) and tokens in (None, token)


def _write(change: Intervention, symbol: str) -> str:
    r"""A change as a formula: `z_t \leftarrow 0`."""
    if isinstance(change, SetWeight | HideToken):
        symbol = symbol.replace("j", str(change.key))
        if change.renormalise:
            return _write_score(change, symbol)
    new = _new_value(change, symbol)
    if change.strength != 1:
        share = number(change.strength)
        new = rf"(1 - {share})\, {symbol} + {share} \cdot \left({new}\right)"
    return rf"{symbol} \leftarrow {new}"


def _new_value(change: Intervention, symbol: str) -> str:
    match change:
        case AverageHead():
            return r"\frac{1}{T} \sum_{i} z_i"
        case ShufflePositions():
            return r"x_t - P_t + P_{\pi(t)}"
        case PatchVector(sentence=sentence):
            return rf"{symbol}^{{\,(\text{{sentence {sentence + 1}}})}}"
        case SetRow(row="uniform"):
            return r"\frac{1}{n} \text{ for the } n \text{ keys that } t \text{ may see}"
        case SetRow(row="diagonal"):
            return r"1 \text{ where } j = t, \text{ else } 0"
        case SetRow(source=source):
            return rf"a^{{({source})}}_{{t,j}}"
        case SetWeight(weight=weight):
            return number(weight)
        case _:
            return "0"


def _write_score(change: SetWeight | HideToken, symbol: str) -> str:
    """The score that gives a key its weight, by the other keys' scores."""
    if change.strength == 1 and change.weight == 0:
        return rf"{symbol} \leftarrow -\infty"
    if change.strength == 1 and change.weight == 1:
        return rf"s_{{t,i}} \leftarrow -\infty \quad \text{{for all }} i \ne {change.key}"
    weight = number(change.weight)
    if change.strength != 1:
        share, own = number(change.strength), symbol.replace("s", "a", 1)
        weight = rf"(1 - {share})\, {own} + {share} \cdot {weight}"
    score = rf"\log \sum_{{i \ne {change.key}}} e^{{s_{{t,i}}}} + \log \frac{{w}}{{1 - w}}"
    return rf"{symbol} \leftarrow {score}, \quad w = {weight}"
