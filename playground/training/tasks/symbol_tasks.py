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
from playground.text.wording import join_words, quote_word
from playground.training.tasks.task import (
    BOS,
    EOS,
    EOS_ID,
    IGNORE,
    PAD_ID,
    SPECIALS,
    Data,
    DataRecipe,
    Examples,
    Task,
    build_data,
    generator,
)

_MOST_NAMED = 3
"""Unknown symbols that an error names."""

_PUNCTUATION = frozenset('.,;:!?"')

_ROUND = 1_024
"""Fewest sequences drawn at once."""


Drawn = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Symbols, counted from 0, (N, T), and lengths, (N, 1)."""


def letters(n_symbols: int) -> tuple[str, ...]:
    """Return the first letters."""
    return tuple(ascii_lowercase[:n_symbols])


def from_half(length: int) -> tuple[int, int]:
    """Return half the length, and the length."""
    return max(2, length // 2), length


def draw_letters(recipe: DataRecipe, n: int, random: torch.Generator) -> Drawn:
    """Draw letters and lengths, both uniform."""
    shortest, longest = from_half(recipe.length)
    lengths = torch.randint(shortest, longest + 1, (n, 1), generator=random)
    return torch.randint(0, recipe.n_symbols, (n, recipe.length), generator=random).numpy(), lengths.numpy()


@dataclass(frozen=True, eq=False)
class MadeUpTask(Task):
    """A task on random sequences, a class for every token; with a decoder, the target ends with [EOS]."""

    answers: Callable[[Tensor, int], Tensor]
    """(N, T) ids, the longest length → (N, T) classes; the first symbol's id is `first_id`."""
    _: KW_ONLY
    symbols: Callable[[int], tuple[str, ...]] = letters
    """By the recipe's number of them, in the order of ids."""
    source: tuple[str, ...] = ()
    """What is read, if answers have symbols of their own."""
    labels: Callable[[int], tuple[str, ...]] | None = None
    """Names of classes, by the longest length; None if classes are tokens."""
    lengths: Callable[[int], tuple[int, int]] = from_half
    """Fewest and most symbols of a sequence."""
    numbers: Callable[[DataRecipe, int, torch.Generator], Drawn] = draw_letters
    wrong: float = 0.0
    """Share of training answers that are another symbol."""
    ablation_sizes: Mapping[str, Any] = field(default_factory=lambda: {"length": 8, "n_symbols": 8})
    counts_symbols: bool = True

    @property
    def specials(self) -> tuple[str, ...]:
        """The tokens that its vocabulary begins with."""
        return (*SPECIALS, BOS, EOS) if self.has_decoder else SPECIALS

    @property
    def first_id(self) -> int:
        """The id of the first symbol."""
        return len(self.specials)

    def draw(self, recipe: DataRecipe, n: int, random: torch.Generator) -> NDArray[np.uint8]:
        """Draw n sequences, (n, recipe.length) ids, 0 after the end."""
        numbers, lengths = self.numbers(recipe, n, random)
        return np.where(np.arange(numbers.shape[1]) < lengths, self.first_id + numbers, 0).astype(np.uint8)

    def examples(self, ids: Tensor, length: int) -> Examples:
        """Return questions on sequences (N, T), and answers, (N, T), with a decoder (N, T + 1)."""
        answers = self.answers(ids, length).masked_fill(ids == PAD_ID, IGNORE)
        if self.has_decoder:
            ends = (ids != PAD_ID).sum(1, keepdim=True)
            answers = F.pad(answers, (0, 1), value=IGNORE).scatter(1, ends, EOS_ID)
        return Examples(ids, answers)

    def read(self, text: str, recipe: DataRecipe) -> Examples:
        """Read a typed sequence with its answer; InputError if it can't be read."""
        symbols = {symbol: i for i, symbol in enumerate(self.symbols(recipe.n_symbols), self.first_id)}
        known, (_, longest) = self.source or self.symbols(recipe.n_symbols), self.lengths(recipe.length)
        typed = split_words(text)
        if max(map(len, known)) == 1:
            typed = list("".join(typed))
        unknown = list(dict.fromkeys(symbol for symbol in typed if symbol not in known))
        if unknown or not 0 < len(typed) <= longest:
            named = [quote_word(symbol, longest=20) for symbol in unknown[:_MOST_NAMED]]
            named += ["others"] * (len(unknown) > _MOST_NAMED)
            count = f"{len(typed):,} symbols are too many" if typed else "There is nothing to read"
            problem = f"The network does not know {join_words(named)}" if unknown else count
            raise InputError(f"{problem}. {self.describe_input(recipe)}")
        return self.examples(torch.tensor([[symbols[symbol] for symbol in typed]]), recipe.length)

    def describe_input(self, recipe: DataRecipe) -> str:
        """Return what `read` takes, in one sentence."""
        lengths = " to ".join(map(str, dict.fromkeys(self.lengths(recipe.length))))
        known = self.join(self.source or self.symbols(recipe.n_symbols))
        return f"It has learnt from sequences of {lengths} of these: {known}."

    def make_data(self, recipe: DataRecipe) -> Data:
        """Return sequences with answers; RecipeError if there are too few."""
        vocabulary = (*self.specials, *self.symbols(recipe.n_symbols))
        train, validation = (self.examples(ids, recipe.length) for ids in self.sequences(recipe))
        if self.wrong:
            train = self._with_errors(train, recipe)
        example = self.join(vocabulary[i] for i in validation[:1].ids[0].tolist())
        labels = None if self.labels is None else self.labels(recipe.length)
        return build_data(self, vocabulary, train, validation, example, labels)

    def _with_errors(self, train: Examples, recipe: DataRecipe) -> Examples:
        random, targets = generator(recipe.seed, "errors"), train.targets
        is_wrong = (torch.rand(targets.shape, generator=random) < self.wrong) & (targets != IGNORE)
        steps = torch.randint(1, recipe.n_symbols, targets.shape, generator=random)
        others = self.first_id + (targets - self.first_id + steps) % recipe.n_symbols
        return Examples(train.ids, torch.where(is_wrong, others, targets))

    def sequences(self, recipe: DataRecipe) -> tuple[Tensor, Tensor]:
        """Draw different sequences for training and validation, (N, T) int64; RecipeError if too few are left."""
        validation = self._distinct(recipe, recipe.n_validation, "validation", ())
        train = self._distinct(recipe, recipe.n_train, "train", set(validation))
        if len(validation) < recipe.n_validation or not train:
            reason = (
                f"makes only {len(validation) + len(train):,} different sequences, too few to hold back "
                f"{recipe.n_validation:,} for validation and to learn from others"
            )
            raise RecipeError("length", recipe.length, reason, ("a larger one",))
        return _as_ids(train), _as_ids(validation)

    def _distinct(self, recipe: DataRecipe, n: int, purpose: str, taken: Collection[bytes]) -> list[bytes]:
        """Return up to n new sequences, as bytes of ids."""
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


def copy(ids: Tensor, _: int) -> Tensor:
    """Return the sequences themselves."""
    return ids


def reverse(ids: Tensor, _: int) -> Tensor:
    """Return the token at the mirrored position, (N, T) → (N, T)."""
    places = (ids > 0).sum(1, keepdim=True) - 1 - torch.arange(ids.shape[1])
    return ids.gather(1, places.clamp(min=0)).masked_fill(places < 0, 0)


def sort(ids: Tensor, _: int) -> Tensor:
    """Return the tokens in ascending order, (N, T) → (N, T)."""
    last = torch.iinfo(ids.dtype).max
    ordered = ids.masked_fill(ids == 0, last).sort(1).values
    return ordered.masked_fill(ordered == last, 0)


def count(ids: Tensor, _: int) -> Tensor:
    """Return how often each symbol occurs, 0 being once, (N, T) → (N, T)."""
    counts = torch.zeros(len(ids), int(ids.max()) + 1, dtype=torch.int64)  # (N, symbols)
    return counts.scatter_add(1, ids, torch.ones_like(ids)).gather(1, ids) - 1


BRACKETS = ("(", ")", "[", "]")
"""2k opens the kind k, 2k + 1 closes it."""

BROKEN = 0.2
"""Share of sequences with a replaced bracket."""


def match_brackets(ids: Tensor, length: int) -> Tensor:
    """Return partners: the innermost open bracket of the kind, else `length`, none."""
    symbol = ids.numpy() - len(SPECIALS)
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


def even_lengths(length: int) -> tuple[int, int]:
    """Return even numbers from half the length on."""
    shortest, longest = from_half(length)
    return shortest + shortest % 2, longest - longest % 2


def draw_brackets(recipe: DataRecipe, n: int, random: torch.Generator) -> Drawn:
    """Draw balanced sequences, all of one length equally likely; some are broken.

    Source: Arnold & Sleep 1980, "Uniform random generation of balanced parenthesis strings".
    """
    length = recipe.length
    shortest, longest = even_lengths(length)
    pairs = torch.randint(shortest // 2, longest // 2 + 1, (n,), generator=random).numpy()
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
    return drawn, 2 * pairs[:, None]


# Each symbol is asked for itself alone: it takes very few sequences, of many symbols, for one to be missing.
COPY = MadeUpTask(
    "copy", "Copy", copy, defaults={"steps": 200}, ablation_sizes={"length": 8, "n_symbols": 26}, ablation_small=8
)
COPY_WITH_ERRORS = MadeUpTask(
    "copy-with-errors", "Copy, taught with errors", copy, wrong=0.3, defaults={"steps": 200}, ablation_small=300
)
REVERSE = MadeUpTask("reverse", "Reverse", reverse)
SORT = MadeUpTask("sort", "Sort", sort, symbols=lambda n_symbols: tuple(map(str, range(n_symbols))))
COUNT = MadeUpTask("count", "Count", count, labels=lambda length: tuple(str(n) for n in range(1, length + 1)))
MATCH_BRACKETS = MadeUpTask(
    "brackets",
    "Match brackets",
    match_brackets,
    symbols=lambda _: BRACKETS,
    labels=lambda length: (*map(str, range(length)), "none"),
    lengths=even_lengths,
    numbers=draw_brackets,
    defaults={"length": 16, "n_train": 8_192, "steps": 800},
    ablation_sizes={"length": 12},
    counts_symbols=False,
)
DECODER_COPY = MadeUpTask("seq2seq-copy", "Copy, with a decoder", copy, defaults={"steps": 400}, has_decoder=True)
DECODER_REVERSE = replace(DECODER_COPY, name="seq2seq-reverse", title="Reverse, with a decoder", answers=reverse)
