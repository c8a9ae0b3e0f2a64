"""Which interventions change nothing that follows, because another one takes away what they have changed."""

from collections.abc import Sequence
from typing import TypeGuard

from playground.model.interventions.intervention_kinds import (
    HEAD_POINTS,
    AverageHead,
    HideToken,
    Intervention,
    PatchVector,
    SetRow,
    SetWeight,
    SkipSublayer,
    Sublayer,
    ZeroHead,
)


def find_idle(applied: Sequence[Intervention], n_heads: int) -> dict[Intervention, str]:
    """Those of the interventions of one pass that have no effect after their head or sublayer, each with what is off.

    A head, or a sublayer, counts as off where its result is zero at full strength. Weights of such a head that another
    head copies do have an effect.
    """
    skipped = {(each.layer, each.sublayer) for each in applied if isinstance(each, SkipSublayer) and each.strength == 1}
    off = {
        (each.layer, head)
        for each in applied
        if isinstance(each, ZeroHead) and each.strength == 1
        for head in _heads(each.head, n_heads)
    }
    copied = {(each.layer, each.source) for each in applied if isinstance(each, SetRow) and each.row == "copy"}
    idle: dict[Intervention, str] = {}
    for each in applied:
        place = _place(each)
        if place is None:
            continue
        layer, sublayer = place
        if (layer, sublayer) in skipped and not isinstance(each, SkipSublayer):
            idle[each] = f"{'attention' if sublayer == 'attn' else 'feed-forward'} of layer {layer} is off"
        elif _is_before_result(each) and {(layer, head) for head in _heads(each.head, n_heads)} <= off - copied:
            idle[each] = f"{'every head' if each.head is None else f'head {each.head}'} of layer {layer} is off"
    return idle


def _is_before_result(intervention: Intervention) -> TypeGuard[SetRow | SetWeight | HideToken | PatchVector]:
    """Whether it changes what a head gathers, or what that is made of."""
    if isinstance(intervention, PatchVector):
        return intervention.point in HEAD_POINTS
    return isinstance(intervention, SetRow | SetWeight | HideToken)


def _heads(head: int | None, n_heads: int) -> Sequence[int]:
    return range(n_heads) if head is None else [head]


def _place(intervention: Intervention) -> tuple[int, Sublayer] | None:
    """The sublayer that an intervention changes, by its layer; None where it changes the stream outside of it."""
    match intervention:
        case SkipSublayer(layer=layer, sublayer=sublayer):
            return layer, sublayer
        case ZeroHead(layer=layer) | AverageHead(layer=layer):
            return layer, "attn"
        case SetRow(layer=layer) | SetWeight(layer=layer) | HideToken(layer=layer):
            return layer, "attn"
        case PatchVector(layer=int(layer), point=point) if point in (*HEAD_POINTS, "attn", "ffn"):
            return layer, "ffn" if point == "ffn" else "attn"
        case _:
            return None
