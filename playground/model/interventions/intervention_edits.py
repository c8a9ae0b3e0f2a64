"""What each intervention does to the tensor of one sentence at its point of the trace.

Legend: T tokens, padding included, H heads, D = d_model.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor

from playground.errors import InterventionError
from playground.model.init import fill_uniform
from playground.model.interventions.intervention_kinds import (
    AverageHead,
    HideToken,
    Intervention,
    PatchVector,
    SetRow,
    SetWeight,
    ShufflePositions,
    SkipSublayer,
    ZeroHead,
)

_ORDER = (ShufflePositions, PatchVector, SetRow, HideToken, SetWeight, AverageHead, ZeroHead, SkipSublayer)
"""Of interventions at the same point; of two of one kind, that which was given first comes first."""


@dataclass
class Surroundings:
    """What edits of one sentence read beside the tensor that they change."""

    real: Tensor
    """(T,) bool: tokens, not padding."""
    positions: Tensor | None
    """(T, D): the first rows of the position table."""
    sources: Mapping[int, Mapping[str, Tensor]]
    """By sentence, the tensors of another run, without their sentence axis."""
    allowed: dict[str, Tensor] = field(default_factory=dict)
    """By layer, such as `layers.0.attn.`, the finite scores, (H, T, T) bool: the keys that no mask hides."""


def point_of(intervention: Intervention) -> str:
    """The name in a trace of the point that an intervention changes."""
    match intervention:
        case ShufflePositions():
            return "embed.sum"
        case PatchVector():
            return intervention.trace_name
        case SetWeight(layer=layer, renormalise=True) | HideToken(layer=layer):
            return f"layers.{layer}.attn.scores"
        case SetWeight(layer=layer) | SetRow(layer=layer):
            return f"layers.{layer}.attn.pattern"
        case ZeroHead(layer=layer) | AverageHead(layer=layer):
            return f"layers.{layer}.attn.z"
        case SkipSublayer(layer=layer, sublayer=sublayer):
            return f"layers.{layer}.{sublayer}.out"


def rank(intervention: Intervention) -> tuple[int, bool]:
    """What interventions at one point are sorted by, the first to be applied first; cuts come before forced pairs."""
    return _ORDER.index(type(intervention)), isinstance(intervention, SetWeight) and intervention.weight > 0


def edit(intervention: Intervention, changed: Tensor, computed: Tensor, around: Surroundings) -> None:
    """Change one sentence's tensor in place; `computed` holds what the model itself has computed there.

    Their shape is that of the point (see `Trace`), without the sentence axis.
    """
    strength = intervention.strength
    match intervention:
        case ShufflePositions(seed=seed):
            if around.positions is None:
                raise InterventionError("There is no position table to shuffle positions of.")
            order = shuffled(int(around.real.sum()), seed).to(changed.device)
            rows = around.real.nonzero()[:, 0]
            changed[rows] += strength * (around.positions[rows[order]] - around.positions[rows])
        case PatchVector(token=token, head=head, sentence=sentence):
            source = around.sources[sentence][intervention.trace_name]
            tokens = slice(None) if token is None else token
            where = (tokens,) if changed.ndim == 2 else (slice(None) if head is None else head, tokens)
            blend(changed, where, source[where], strength)
        case SetRow(head=head, query=query):
            row = (slice(None) if head is None else head, slice(None) if query is None else query)
            blend(changed, row, _row_of(intervention, computed, around)[row], strength)
        case SetWeight(head=head, query=query, key=key, weight=weight, renormalise=True):
            heads = slice(None) if head is None else head
            changed[heads, query] = with_weight(changed[heads, query], key, weight, strength)
        case SetWeight(head=head, query=query, key=key, weight=weight):
            blend(changed, (slice(None) if head is None else head, query, key), weight, strength)
        case HideToken(head=head, key=key):
            heads, readers = slice(None) if head is None else slice(head, head + 1), around.real.clone()
            readers[key] = False
            changed[heads, readers] = with_weight(changed[heads, readers], key, 0.0, strength)
        case AverageHead(head=head):
            heads = slice(None) if head is None else slice(head, head + 1)
            blend(changed, (heads,), changed[heads][:, around.real].mean(dim=1, keepdim=True), strength)
        case ZeroHead(head=head):
            blend(changed, (slice(None) if head is None else head,), 0.0, strength)
        case SkipSublayer():
            blend(changed, (...,), 0.0, strength)


def blend(tensor: Tensor, where: tuple[object, ...], new: Tensor | float, strength: float) -> None:
    """Move a part of a tensor towards new numbers, in place; at strength 1 it is these numbers, bit for bit."""
    index: tuple[slice | int | Tensor, ...] = where  # type: ignore[assignment]
    tensor[index] = new if strength == 1 else (1 - strength) * tensor[index] + strength * new


def with_weight(scores: Tensor, key: int, weight: float, strength: float = 1.0) -> Tensor:
    """Scores (…, T) whose softmax moves a key's weight towards `weight`, the others keeping their proportions.

    With the others' scores summed up as s = log Σ exp(score), the key's weight is w where its score is s + log(w) −
    log(1 − w). A row that has no other key stays as it is.
    """
    others = scores.clone()
    others[..., key] = -torch.inf
    target = (1 - strength) * scores.softmax(dim=-1)[..., key] + strength * weight  # (…)
    changed = scores.clone()
    changed[..., key] = others.logsumexp(dim=-1) + target.log() - (-target).log1p()
    alone = torch.where(others.isneginf().logical_not(), -torch.inf, scores)  # no weight is left for any other key
    changed = torch.where((target >= 1)[..., None], alone, changed)
    is_single = others.isneginf().all(dim=-1, keepdim=True)
    return torch.where(is_single, scores, changed)


def shuffled(n: int, seed: int) -> Tensor:
    """A permutation of n numbers, int64, drawn from a seed: the same everywhere, and never the unchanged order.

    There is none for n below 2: these come back as they are.
    """
    unchanged = np.arange(n)
    order, attempt = unchanged, 0
    while n > 1 and np.array_equal(order, unchanged):
        numbers = np.empty((1, n), dtype=np.float32)
        fill_uniform(numbers, seed, f"positions/{attempt}", 1.0)
        order, attempt = np.argsort(numbers[0], kind="stable"), attempt + 1
    return torch.from_numpy(order.copy())


def _row_of(intervention: SetRow, pattern: Tensor, around: Surroundings) -> Tensor:
    """The rows that every query would have, (H, T, T), as a pattern."""
    if intervention.source is not None:
        return pattern[intervention.source].expand_as(pattern)
    if intervention.row == "diagonal":
        return torch.eye(pattern.shape[-1], dtype=pattern.dtype, device=pattern.device).expand_as(pattern)
    allowed = around.allowed[f"layers.{intervention.layer}.attn."].to(pattern.dtype)
    return allowed / allowed.sum(dim=-1, keepdim=True).clamp(min=1)
