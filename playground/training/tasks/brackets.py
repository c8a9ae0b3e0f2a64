"""Brackets of two kinds, most of them balanced: where each one has its partner.

Legend: N sequences, T tokens in the longest of them. Ids are 0 where a sequence has ended.
"""

import math
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from playground.training.tasks.made_up import MadeUpTask, cut_off, shortest_length
from playground.training.tasks.task import DataRecipe

BRACKETS = ("(", ")", "[", "]")
"""Two kinds: symbol 2k opens the kind k, symbol 2k + 1 closes it."""

BROKEN = 0.2
"""The share of bracket sequences in which one bracket is replaced by another."""


class Brackets(MadeUpTask):
    """Each bracket's class is the position of its partner; the last class is for a bracket without one."""

    name, title = "brackets", "Match brackets"
    question = "Say for every bracket at which position its partner stands, or that it has none."
    rule = "always answer with the commonest position of the training set"
    defaults: ClassVar = {"length": 16, "n_train": 8_192, "steps": 800}
    ablation_sizes: ClassVar = {"length": 12}
    counts_symbols = False
    sequences_of = "balanced sequences", "brackets"

    def symbols(self, n_symbols: int) -> tuple[str, ...]:
        """Both kinds, whatever the recipe says."""
        return BRACKETS

    def labels(self, length: int) -> tuple[str, ...]:
        """Positions from 0, and `none`."""
        return (*map(str, range(length)), "none")

    def answers(self, ids: Tensor, length: int) -> Tensor:
        """The position of each bracket's partner, or `length` for none.

        A closing bracket belongs to the innermost open one if that is of its kind. If not, it has no partner, and the
        other one stays open.
        """
        symbol = ids.numpy() - self.first_id
        n, n_tokens = symbol.shape
        kind, closes, token = symbol // 2, symbol % 2 == 1, symbol >= 0
        rows, height = np.arange(n), np.zeros(n, np.int64)
        stack = np.zeros((n, n_tokens + 1), np.int64)  # the open brackets' positions, the innermost at `height`
        partners = np.full_like(symbol, length)
        for t in range(n_tokens):
            top = stack[rows, height]
            pair = rows[token[:, t] & closes[:, t] & (height > 0) & (kind[rows, top] == kind[:, t])]
            partners[pair, t], partners[pair, top[pair]] = top[pair], t
            height[pair] -= 1
            opening = rows[token[:, t] & ~closes[:, t]]
            height[opening] += 1
            stack[opening, height[opening]] = t
        return torch.from_numpy(partners)

    def count_sequences(self, length: int, n_symbols: int) -> int:
        """How many balanced sequences there are: Catalan's number of shapes, and two kinds for each pair."""
        pairs = range((shortest_length(length) + 1) // 2, length // 2 + 1)
        return sum(math.comb(2 * n, n) // (n + 1) * 2**n for n in pairs)

    def draw(self, recipe: DataRecipe, n: int, random: torch.Generator) -> NDArray[np.uint8]:
        """Balanced sequences of even length, all of one length equally likely; then some are broken.

        Source: Arnold & Sleep 1980, "Uniform random generation of balanced parenthesis strings".
        """
        length = recipe.length
        pairs = torch.randint((shortest_length(length) + 1) // 2, length // 2 + 1, (n,), generator=random).numpy()
        coins = torch.rand(n, length, generator=random).numpy()
        kinds = torch.randint(2, (n, length), generator=random).numpy()
        rows, height = np.arange(n), np.zeros(n, np.int64)
        open_kinds = np.zeros((n, length + 1), np.int64)  # the kind of the bracket that is open at each height
        drawn = np.zeros((n, length), np.int64)
        for t in range(length):
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
        return cut_off(self.first_id + drawn, 2 * pairs[:, None])
