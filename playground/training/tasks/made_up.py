"""Made-up sequences of letters, whose right answers are known exactly; no sequence occurs twice.

Legend: N sequences, T tokens in the longest of them. Ids are 0 where a sequence has ended.
"""

from abc import abstractmethod
from collections.abc import Collection
from itertools import islice
from string import ascii_lowercase
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from playground.errors import RecipeError
from playground.training.seeding import generator
from playground.training.tasks.examples import IGNORE, PAD_ID, SPECIALS, Examples
from playground.training.tasks.task import Data, DataRecipe, Task

_ROUND = 1_024
"""Fewest sequences that are drawn at once; where so many bring nothing new, hardly anything new is left."""


class MadeUpTask(Task):
    """A task on random sequences of letters: a class for every token. Most tasks need no more than `answers`."""

    rule = "always answer with the symbol that is the commonest answer in the training set"
    ablation_sizes: ClassVar = {"length": 8, "n_symbols": 8}
    counts_symbols = True
    specials: ClassVar[tuple[str, ...]] = SPECIALS
    """The tokens that its vocabulary begins with."""
    sequences_of: ClassVar[tuple[str, str]] = "sequences", "symbols"
    """What an error calls its sequences, and what they consist of."""

    @abstractmethod
    def answers(self, ids: Tensor, length: int) -> Tensor:
        """The class of every token, (N, T) → (N, T); what stands after a sequence's end means nothing.

        The first symbol's id is `first_id`, and `length` the longest sequence that the recipe allows.
        """

    def symbols(self, n_symbols: int) -> tuple[str, ...]:
        """What sequences consist of, in the order of their ids."""
        return tuple(ascii_lowercase[:n_symbols])

    def labels(self, length: int) -> tuple[str, ...] | None:
        """What each class is called; None where classes are tokens."""
        return None

    def count_sequences(self, length: int, n_symbols: int) -> int:
        """How many different sequences there are."""
        return sum(n_symbols**n for n in range(shortest_length(length), length + 1))

    def draw(self, recipe: DataRecipe, n: int, random: torch.Generator) -> NDArray[np.uint8]:
        """Random sequences, some of them equal: (n, recipe.length) ids, 0 after the end; lengths are uniform."""
        lengths = torch.randint(shortest_length(recipe.length), recipe.length + 1, (n, 1), generator=random)
        end = self.first_id + recipe.n_symbols
        ids = torch.randint(self.first_id, end, (n, recipe.length), generator=random)
        return cut_off(ids.numpy(), lengths.numpy())

    def examples(self, ids: Tensor, length: int) -> Examples:
        """What is asked about sequences (N, T), and the right answers."""
        return Examples(ids, self.answers(ids, length).masked_fill(ids == PAD_ID, IGNORE))

    @property
    def first_id(self) -> int:
        """The id of the first symbol."""
        return len(self.specials)

    def make_data(self, recipe: DataRecipe) -> Data:
        """Sequences with their answers; RecipeError where there are too few different ones."""
        vocabulary = (*self.specials, *self.symbols(recipe.n_symbols))
        train, validation = (self.examples(ids, recipe.length) for ids in self.sequences(recipe))
        example = self.join(vocabulary[i] for i in validation[:1].ids[0].tolist())
        return self.build_data(vocabulary, train, validation, example=example, labels=self.labels(recipe.length))

    def sequences(self, recipe: DataRecipe) -> tuple[Tensor, Tensor]:
        """Sequences for training, (N, T) int64, and for validation; none occurs twice, nor in both.

        Lengths are uniform from half the recipe's to all of it, as long as there are sequences of each that are new.
        Training has nearly all that validation leaves where the recipe asks for more; RecipeError where that is
        nothing.
        """
        self._check_variety(recipe)
        validation = self._distinct(recipe, recipe.n_validation, "validation", ())
        train = self._distinct(recipe, recipe.n_train, "train", set(validation))
        return _as_ids(train), _as_ids(validation)

    def _distinct(self, recipe: DataRecipe, n: int, purpose: str, taken: Collection[bytes]) -> list[bytes]:
        """Up to n different sequences that are not taken, each as the bytes of its ids, padded to the same length."""
        random, distinct = generator(recipe.seed, purpose), dict[bytes, None]()
        before = -1
        while before < len(distinct) < n:
            before = len(distinct)
            rows = self.draw(recipe, max(n, _ROUND), random)
            distinct.update((key, None) for row in rows if (key := row.tobytes()) not in taken)
        return list(islice(distinct, n))

    def _check_variety(self, recipe: DataRecipe) -> None:
        needed, length = recipe.n_validation + min(recipe.n_train, recipe.n_validation), recipe.length
        available = self.count_sequences(length, recipe.n_symbols)
        if available >= needed:
            return
        more = range(recipe.n_symbols + 1, len(ascii_lowercase) + 1) if self.counts_symbols else ()
        field, value = "n_symbols", recipe.n_symbols
        enough = next((n for n in more if self.count_sequences(length, n) >= needed), None)
        if enough is None:
            field, value, longer = "length", length, range(length + 1, 257)
            enough = next(n for n in longer if self.count_sequences(n, recipe.n_symbols) >= needed)
        sequences, symbols = self.sequences_of
        lengths = "2" if length == 2 else f"{shortest_length(length)} to {length}"
        raise RecipeError(
            field,
            value,
            f"makes only {available:,} different {sequences} of {lengths} {symbols}, too few to hold back "
            f"{recipe.n_validation:,} for validation and to learn from others",
            (enough,),
        )


def shortest_length(length: int) -> int:
    """Tokens of the shortest sequence, where the longest has `length`."""
    return max(2, length // 2)


def cut_off(ids: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.uint8]:
    """The ids (N, T), 0 after each sequence's length, (N, 1)."""
    return np.where(np.arange(ids.shape[1]) < lengths, ids, 0).astype(np.uint8)


def _as_ids(rows: list[bytes]) -> Tensor:
    ids = np.frombuffer(b"".join(rows), np.uint8).reshape(len(rows), -1)
    return torch.from_numpy(ids[:, : (ids > 0).sum(1).max()].astype(np.int64))
