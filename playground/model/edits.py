"""What each kind of change does to a tensor of one sentence: an index into it, and the new numbers there.

T tokens, padding included, H heads, D = d_model.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch
from torch import Tensor

from playground.errors import InterventionError
from playground.model.init import generator


class Change(Protocol):
    """What an edit reads of a `changes.Change`."""

    @property
    def strength(self) -> float:
        """0 to 1."""

    @property
    def point(self) -> str:
        """The name in a trace."""

    def __getitem__(self, name: str) -> Any: ...


@dataclass
class Surroundings:
    """What an edit reads beside its tensor."""

    real: Tensor
    """(T,) bool, False = padding."""
    positions: Tensor | None
    """(T, D), of the position table."""
    sources: Mapping[int, Mapping[str, Tensor]]
    """Of other sentences' runs, without their sentence axis."""
    allowed: dict[str, Tensor] = field(default_factory=dict)
    """(H, T, T) bool, by prefix such as `layers.0.attn.`."""


Edit = tuple[tuple[Any, ...], Tensor | float]


def heads_of(change: Change) -> slice:
    """Return the changed heads of a tensor (H, …)."""
    return slice(None) if change["head"] is None else slice(change["head"], change["head"] + 1)


def tokens_of(change: Change) -> slice | int:
    """Return the changed queries."""
    return slice(None) if change["query"] is None else int(change["query"])


def with_weight(scores: Tensor, key: int, weight: float, strength: float = 1.0) -> Tensor:
    """Set scores (…, T) so that a key's weight moves towards `weight`; the others keep their proportions.

    The weight is w at the score log Σ exp over the others + log(w) − log(1 − w). A row without another key stays.
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


def set_weight(change: Change, x: Tensor, computed: Tensor, around: Surroundings) -> Edit:
    """Set a score for a wanted weight."""
    where = (heads_of(change), change["query"])
    return where, with_weight(x[where], change["key"], change["weight"], change.strength)


def hide_token(change: Change, x: Tensor, computed: Tensor, around: Surroundings) -> Edit:
    """Hide a key from every other token."""
    readers = around.real.clone()
    readers[change["key"]] = False
    where = (heads_of(change), readers)
    return where, with_weight(x[where], change["key"], 0.0, change.strength)


def even_rows(change: Change, x: Tensor, computed: Tensor, around: Surroundings) -> Edit:
    """Give each allowed key the same weight."""
    where, allowed = (
        (heads_of(change), tokens_of(change)),
        around.allowed[f"layers.{change['layer']}.attn."].to(x.dtype),
    )
    return where, (allowed / allowed.sum(dim=-1, keepdim=True).clamp(min=1))[where]


def shuffled(n: int, seed: int) -> Tensor:
    """Draw a permutation of n numbers; never the unchanged order if n is above 1."""
    unchanged, drawn = torch.arange(n), generator(seed, "positions")
    order = torch.randperm(n, generator=drawn)
    while n > 1 and torch.equal(order, unchanged):
        order = torch.randperm(n, generator=drawn)
    return order


def shuffle_positions(change: Change, x: Tensor, computed: Tensor, around: Surroundings) -> Edit:
    """Add the positions in another order."""
    if around.positions is None:
        raise InterventionError("There is no position table to shuffle positions of.")
    order = shuffled(int(around.real.sum()), change["seed"]).to(x.device)
    rows = around.real.nonzero()[:, 0]
    return (rows,), x[rows] + (around.positions[rows[order]] - around.positions[rows])


def patch_vectors(change: Change, x: Tensor, computed: Tensor, around: Surroundings) -> Edit:
    """Take another sentence's vectors."""
    where = (tokens_of(change),) if x.ndim == 2 else (heads_of(change), tokens_of(change))
    return where, around.sources[change["sentence"]][change.point][where]
