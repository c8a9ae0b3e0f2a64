"""Made-up sequences, drawn so that none comes twice.

Legend: N sequences, T tokens in the longest of them. Ids are 0 where a sequence has ended.
"""

import math
from collections.abc import Collection
from dataclasses import replace
from itertools import islice
from string import ascii_lowercase

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from playground.errors import RecipeError
from playground.training.recipe import Recipe
from playground.training.seeding import generator

BRACKETS = ("(", ")", "[", "]")
"""Two kinds: symbol 2k opens the kind k, symbol 2k + 1 closes it."""

BROKEN = 0.2
"""The share of bracket sequences in which one bracket is replaced by another."""

_ROUND = 1_024
"""Fewest sequences that are drawn at once; where so many bring nothing new, hardly anything new is left."""


def symbols(recipe: Recipe) -> tuple[str, ...]:
    """What the recipe's sequences are made of: numbers to sort, brackets, or letters."""
    if recipe.task == "brackets":
        return BRACKETS
    return (
        tuple(map(str, range(recipe.n_symbols)))
        if recipe.task == "sort"
        else tuple(ascii_lowercase[: recipe.n_symbols])
    )


def sequences(recipe: Recipe, first: int) -> tuple[Tensor, Tensor]:
    """Draw sequences for training, (N, T) int64, and for validation; none occurs twice, nor in both.

    Lengths are uniform from half the recipe's to all of it, as long as there are sequences of each that are new.
    Validation has as many as the recipe asks for; training has nearly all others where it asks for more than there are.

    Args:
        recipe: the task and its sizes.
        first: the id of the first symbol.

    Raises:
        RecipeError: there are too few different sequences to hold some back for validation.
    """
    _check_variety(recipe)
    validation = _distinct(recipe, first, recipe.n_validation, "validation", ())
    train = _distinct(recipe, first, recipe.n_train, "train", set(validation))
    return _as_ids(train), _as_ids(validation)


def variety(recipe: Recipe) -> int:
    """How many different sequences there are; of brackets, only the balanced ones are counted."""
    if recipe.task == "brackets":  # Catalan's number of shapes, and two kinds for each pair
        pairs = range((_shortest(recipe) + 1) // 2, recipe.length // 2 + 1)
        return sum(math.comb(2 * n, n) // (n + 1) * 2**n for n in pairs)
    return sum(recipe.n_symbols**length for length in range(_shortest(recipe), recipe.length + 1))


def _shortest(recipe: Recipe) -> int:
    return max(2, recipe.length // 2)


def _check_variety(recipe: Recipe) -> None:
    needed = recipe.n_validation + min(recipe.n_train, recipe.n_validation)
    if variety(recipe) >= needed:
        return
    more_symbols = (replace(recipe, n_symbols=n) for n in range(recipe.n_symbols + 1, len(ascii_lowercase) + 1))
    longer = (replace(recipe, length=length) for length in range(recipe.length + 1, 257))
    enough = None if recipe.task == "brackets" else next((r for r in more_symbols if variety(r) >= needed), None)
    field = "length" if enough is None else "n_symbols"
    enough = enough or next(r for r in longer if variety(r) >= needed)
    kind, pieces = ("balanced ", "brackets") if recipe.task == "brackets" else ("", "symbols")
    lengths = "2" if recipe.length == 2 else f"{_shortest(recipe)} to {recipe.length}"
    raise RecipeError(
        field,
        getattr(recipe, field),
        f"makes only {variety(recipe):,} different {kind}sequences of {lengths} {pieces}, too few to hold back "
        f"{recipe.n_validation:,} for validation and to learn from others",
        (getattr(enough, field),),
    )


def _distinct(recipe: Recipe, first: int, n: int, purpose: str, taken: Collection[bytes]) -> list[bytes]:
    """Up to n different sequences that are not taken, each as the bytes of its ids, padded to the recipe's length."""
    random, found = generator(recipe.seed, purpose), dict[bytes, None]()
    draw = _draw_brackets if recipe.task == "brackets" else _draw_symbols
    before = -1
    while before < len(found) < n:
        before = len(found)
        rows = draw(recipe, first, max(n, _ROUND), random)
        found.update((key, None) for row in rows if (key := row.tobytes()) not in taken)
    return list(islice(found, n))


def _as_ids(rows: list[bytes]) -> Tensor:
    ids = np.frombuffer(b"".join(rows), np.uint8).reshape(len(rows), -1)
    return torch.from_numpy(ids[:, : (ids > 0).sum(1).max()].astype(np.int64))


def _draw_symbols(recipe: Recipe, first: int, n: int, random: torch.Generator) -> NDArray[np.uint8]:
    lengths = torch.randint(_shortest(recipe), recipe.length + 1, (n, 1), generator=random)
    ids = torch.randint(first, first + recipe.n_symbols, (n, recipe.length), generator=random)
    return _ended(ids.numpy(), lengths.numpy())


def _ended(ids: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.uint8]:
    return np.where(np.arange(ids.shape[1]) < lengths, ids, 0).astype(np.uint8)


def _draw_brackets(recipe: Recipe, first: int, n: int, random: torch.Generator) -> NDArray[np.uint8]:
    """Balanced sequences of even length, all of one length equally likely; then some are broken.

    Source: Arnold & Sleep 1980, "Uniform random generation of balanced parenthesis strings".
    """
    pairs = torch.randint((_shortest(recipe) + 1) // 2, recipe.length // 2 + 1, (n,), generator=random).numpy()
    coins = torch.rand(n, recipe.length, generator=random).numpy()
    kinds = torch.randint(2, (n, recipe.length), generator=random).numpy()
    rows, height = np.arange(n), np.zeros(n, np.int64)
    open_kinds = np.zeros((n, recipe.length + 1), np.int64)  # the kind of the bracket that is open at each height
    drawn = np.zeros((n, recipe.length), np.int64)
    for t in range(recipe.length):
        left = np.maximum(2 * pairs - t, 1)  # brackets to come; past the end it does not matter
        opens = coins[:, t] < (height + 2) * (left - height) / (2 * left * (height + 1))
        height += opens
        open_kinds[rows, height] = np.where(opens, kinds[:, t], open_kinds[rows, height])
        drawn[:, t] = 2 * open_kinds[rows, height] + ~opens
        height -= ~opens

    place = (torch.rand(n, generator=random, dtype=torch.float64).numpy() * 2 * pairs).astype(np.int64)
    other = torch.randint(1, len(BRACKETS), (n,), generator=random).numpy()
    broken = torch.rand(n, generator=random).numpy() < BROKEN
    drawn[rows, place] = (drawn[rows, place] + broken * other) % len(BRACKETS)
    return _ended(first + drawn, 2 * pairs[:, None])
