"""Made-up sequences whose right answers are known; none occurs twice. Legend: N sequences, T tokens in the longest."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from itertools import islice
from string import ascii_lowercase
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from playground.errors import InputError, RecipeError
from playground.text.wording import quote_word
from playground.training.recipe import (
    BOS,
    EOS,
    EOS_ID,
    IGNORE,
    PAD_ID,
    SPECIALS,
    Data,
    Examples,
    Recipe,
    Task,
    build_data,
    generator,
)

_PUNCTUATION = frozenset('.,;:!?"')

_ROUND = 1_024
"""Fewest sequences drawn at once."""

Drawn = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Symbols, counted from 0, (N, T), and lengths, (N, 1)."""


def _letters(n_symbols: int) -> tuple[str, ...]:
    return tuple(ascii_lowercase[:n_symbols])


def _from_half(length: int) -> tuple[int, int]:
    return max(2, length // 2), length


def _draw_letters(recipe: Recipe, n: int, random: torch.Generator) -> Drawn:
    shortest, longest = _from_half(recipe.length)
    lengths = torch.randint(shortest, longest + 1, (n, 1), generator=random)
    return torch.randint(0, recipe.n_symbols, (n, recipe.length), generator=random).numpy(), lengths.numpy()


@dataclass(frozen=True, eq=False)
class MadeUpTask(Task):
    """A task on random sequences, a class for every token; with a decoder, the target ends with [EOS]."""

    answers: Callable[[Tensor], Tensor]
    """(N, T) ids → (N, T) classes; the first symbol's id is `first_id`."""
    _: KW_ONLY
    symbols: Callable[[int], tuple[str, ...]] = _letters
    """By their number, in the order of ids."""
    source: tuple[str, ...] = ()
    """What is read; empty: all symbols."""
    labels: Callable[[int], tuple[str, ...]] | None = None
    """By the longest length; None: tokens."""
    lengths: Callable[[int], tuple[int, int]] = _from_half
    numbers: Callable[[Recipe, int, torch.Generator], Drawn] = _draw_letters
    ablation_sizes: Mapping[str, Any] = field(default_factory=lambda: {"length": 8, "n_symbols": 8})
    counts_symbols: bool = True

    @property
    def first_id(self) -> int:
        """Id of the first ordinary token."""
        return len(SPECIALS) + 2 * self.has_decoder

    def draw(self, recipe: Recipe, n: int, random: torch.Generator) -> NDArray[np.uint8]:
        """Draw n sequences, (n, recipe.length) ids, 0 after the end."""
        numbers, lengths = self.numbers(recipe, n, random)
        return np.where(np.arange(recipe.length) < lengths, self.first_id + numbers, 0).astype(np.uint8)

    def examples(self, ids: Tensor) -> Examples:
        """Return sequences (N, T) with their answers, (N, T), with a decoder (N, T + 1)."""
        answers = self.answers(ids).masked_fill(ids == PAD_ID, IGNORE)
        if self.has_decoder:
            ends = (ids != PAD_ID).sum(1, keepdim=True)
            answers = F.pad(answers, (0, 1), value=IGNORE).scatter(1, ends, EOS_ID)
        return Examples(ids, answers)

    def read(self, text: str, recipe: Recipe) -> Examples:
        """Read a typed sequence with its answer; InputError if it can't be read."""
        symbols = {symbol: i for i, symbol in enumerate(self.symbols(recipe.n_symbols), self.first_id)}
        known, (_, longest) = self.source or self.symbols(recipe.n_symbols), self.lengths(recipe.length)
        typed = split_words(text)
        if max(map(len, known)) == 1:
            typed = list("".join(typed))
        unknown = [symbol for symbol in typed if symbol not in known]
        if unknown or not 0 < len(typed) <= longest:
            problem = f"It does not know {quote_word(unknown[0], longest=20)}. " if unknown else ""
            raise InputError(f"{problem}{self.describe_input(recipe)}")
        return self.examples(torch.tensor([[symbols[symbol] for symbol in typed]]))

    def describe_input(self, recipe: Recipe) -> str:
        """Return what `read` takes, in one sentence."""
        lengths = " to ".join(map(str, dict.fromkeys(self.lengths(recipe.length))))
        known = self.join(self.source or self.symbols(recipe.n_symbols))
        return f"It has learnt from sequences of {lengths} of these: {known}."

    def make_data(self, recipe: Recipe) -> Data:
        """Return sequences with answers; RecipeError if there are too few."""
        vocabulary = (*SPECIALS, BOS, EOS)[: self.first_id] + self.symbols(recipe.n_symbols)
        train, validation = map(self.examples, self.sequences(recipe))
        example = self.join(vocabulary[i] for i in validation[:1].ids[0].tolist())
        labels = None if self.labels is None else self.labels(recipe.length)
        return build_data(self, vocabulary, train, validation, example, labels)

    def sequences(self, recipe: Recipe) -> tuple[Tensor, Tensor]:
        """Draw different sequences for training and validation, (N, T) int64."""
        validation = self._distinct(recipe, recipe.n_validation, "validation", ())
        train = self._distinct(recipe, recipe.n_train, "train", set(validation))
        if len(validation) < recipe.n_validation or not train:
            n = len(validation) + len(train)
            reason = f"makes only {n:,} different sequences, too few to hold back {recipe.n_validation:,} of them"
            raise RecipeError("length", recipe.length, reason, ("a larger one",))
        return _as_ids(train), _as_ids(validation)

    def _distinct(self, recipe: Recipe, n: int, purpose: str, taken: Collection[bytes]) -> list[bytes]:
        random, distinct = generator(recipe.seed, purpose), dict[bytes, None]()
        before = -1
        while before < len(distinct) < n:
            before = len(distinct)
            rows = self.draw(recipe, max(n, _ROUND), random)
            distinct.update((key, None) for row in rows if (key := row.tobytes()) not in taken)
        return list(islice(distinct, n))


def split_words(text: str) -> list[str]:
    """Return typed words in small letters, without punctuation."""
    kept = (" " if each.isspace() or each in _PUNCTUATION else each for each in text.lower())
    return "".join(each for each in kept if each.isprintable()).split()


def _as_ids(rows: list[bytes]) -> Tensor:
    ids = np.frombuffer(b"".join(rows), np.uint8).reshape(len(rows), -1)
    return torch.from_numpy(ids[:, : (ids > 0).sum(1).max()].astype(np.int64))


def copy(ids: Tensor) -> Tensor:
    """Return the sequences themselves."""
    return ids


def reverse(ids: Tensor) -> Tensor:
    """Return the token at the mirrored position, (N, T) → (N, T)."""
    places = (ids > 0).sum(1, keepdim=True) - 1 - torch.arange(ids.shape[1])
    return ids.gather(1, places.clamp(min=0)).masked_fill(places < 0, 0)


def sort(ids: Tensor) -> Tensor:
    """Return the tokens in ascending order, (N, T) → (N, T)."""
    last = torch.iinfo(ids.dtype).max
    ordered = ids.masked_fill(ids == 0, last).sort(1).values
    return ordered.masked_fill(ordered == last, 0)


def count(ids: Tensor) -> Tensor:
    """Return how often each symbol occurs, 0 being once, (N, T) → (N, T)."""
    counts = torch.zeros(len(ids), int(ids.max()) + 1, dtype=torch.int64)  # (N, symbols)
    return counts.scatter_add(1, ids, torch.ones_like(ids)).gather(1, ids) - 1


# Each symbol is asked for itself alone: it takes very few sequences, of many symbols, for one to be missing.
COPY = MadeUpTask(
    "copy", "Copy", copy, defaults={"steps": 200}, ablation_sizes={"length": 8, "n_symbols": 26}, ablation_small=8
)
REVERSE = MadeUpTask("reverse", "Reverse", reverse)
SORT = MadeUpTask("sort", "Sort", sort, symbols=lambda n_symbols: tuple(map(str, range(n_symbols))))
COUNT = MadeUpTask("count", "Count", count, labels=lambda length: tuple(str(n) for n in range(1, length + 1)))
DECODER_COPY = MadeUpTask("seq2seq-copy", "Copy, with a decoder", copy, defaults={"steps": 400}, has_decoder=True)
DECODER_REVERSE = replace(DECODER_COPY, name="seq2seq-reverse", title="Reverse, with a decoder", answers=reverse)
