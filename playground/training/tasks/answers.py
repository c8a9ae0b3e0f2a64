"""The right answer for every token of a made-up sequence.

Legend: N sequences, T tokens in the longest of them. Ids are 0 where a sequence has ended.
"""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from playground.training.recipe import Recipe


def answers(recipe: Recipe, ids: Tensor, first: int) -> Tensor:
    """The class of every token, (N, T) → (N, T); what stands after a sequence's end means nothing.

    Args:
        recipe: its task, and the longest sequence there can be.
        ids: the sequences.
        first: the id of the first symbol.
    """
    ways: dict[str, Callable[[], Tensor]] = {
        "copy": lambda: ids,
        "reverse": lambda: backwards(ids),
        "sort": lambda: ascending(ids),
        "count": lambda: occurrences(ids) - 1,
        "brackets": lambda: partners(ids, first, none=recipe.length),
        "seq2seq-copy": lambda: ids,
        "seq2seq-reverse": lambda: backwards(ids),
    }
    return ways[recipe.task]()


def classes(recipe: Recipe, vocabulary: tuple[str, ...]) -> tuple[str, ...]:
    """What each class is called: counts from 1, positions from 0, or the vocabulary's tokens."""
    if recipe.task == "count":
        return tuple(str(n) for n in range(1, recipe.length + 1))
    return (*map(str, range(recipe.length)), "none") if recipe.task == "brackets" else vocabulary


def backwards(ids: Tensor) -> Tensor:
    """Every sequence reversed within its own length: (N, T) → (N, T)."""
    places = (ids > 0).sum(1, keepdim=True) - 1 - torch.arange(ids.shape[1])
    return ids.gather(1, places.clamp(min=0)).masked_fill(places < 0, 0)


def ascending(ids: Tensor) -> Tensor:
    """Every sequence sorted by id: (N, T) → (N, T)."""
    last = torch.iinfo(ids.dtype).max
    ordered = ids.masked_fill(ids == 0, last).sort(1).values
    return ordered.masked_fill(ordered == last, 0)


def occurrences(ids: Tensor) -> Tensor:
    """How often each token's symbol occurs in its sequence, (N, T) → (N, T)."""
    counts = torch.zeros(len(ids), int(ids.max()) + 1, dtype=torch.int64)  # (N, symbols)
    return counts.scatter_add(1, ids, torch.ones_like(ids)).gather(1, ids)


def partners(ids: Tensor, first: int, none: int) -> Tensor:
    """The position of each bracket's partner, or `none`: (N, T) → (N, T).

    A closing bracket belongs to the innermost open one if that is of its kind. If not, it has no partner, and the
    other one stays open.
    """
    symbol = ids.numpy() - first
    n, n_tokens = symbol.shape
    kind, closes, token = symbol // 2, symbol % 2 == 1, symbol >= 0
    rows, height = np.arange(n), np.zeros(n, np.int64)
    stack = np.zeros((n, n_tokens + 1), np.int64)  # the open brackets' positions, the innermost at `height`
    found = np.full_like(symbol, none)
    for t in range(n_tokens):
        top = stack[rows, height]
        pair = rows[token[:, t] & closes[:, t] & (height > 0) & (kind[rows, top] == kind[:, t])]
        found[pair, t], found[pair, top[pair]] = top[pair], t
        height[pair] -= 1
        opening = rows[token[:, t] & ~closes[:, t]]
        height[opening] += 1
        stack[opening, height[opening]] = t
    return torch.from_numpy(found)
