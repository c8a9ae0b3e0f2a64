"""Made-up sequences of letters and brackets, whose right answers are known; none occurs twice.

Legend: N sequences, T tokens in the longest. Ids are 0 after a sequence's end.
"""

from abc import abstractmethod
from collections.abc import Collection
from dataclasses import replace
from itertools import islice
from string import ascii_lowercase
from typing import ClassVar

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
    commonest_answer_share,
    generator,
)

_MOST_NAMED = 3
"""Unknown symbols that an error names."""

_PUNCTUATION = frozenset('.,;:!?"')

_ROUND = 1_024
"""Fewest sequences drawn at once."""


class MadeUpTask(Task):
    """A task on random sequences of letters, a class for every token. Most need `answers` alone."""

    rule = "always answer with the symbol that is the commonest answer in the training set"
    ablation_sizes: ClassVar = {"length": 8, "n_symbols": 8}
    counts_symbols = True
    specials: ClassVar[tuple[str, ...]] = SPECIALS
    """The tokens that its vocabulary begins with."""

    @abstractmethod
    def answers(self, ids: Tensor, length: int) -> Tensor:
        """Return the class of every token, (N, T) → (N, T); the first symbol's id is `first_id`."""

    def symbols(self, n_symbols: int) -> tuple[str, ...]:
        """Return the symbols in the order of ids."""
        return tuple(ascii_lowercase[:n_symbols])

    def source_symbols(self, n_symbols: int) -> tuple[str, ...]:
        """Return what is read, if answers have symbols of their own."""
        return self.symbols(n_symbols)

    def labels(self, length: int) -> tuple[str, ...] | None:
        """Return names of classes; None if classes are tokens."""
        return None

    def lengths(self, length: int) -> tuple[int, int]:
        """Return the fewest and most symbols of a sequence."""
        return max(2, length // 2), length

    def draw(self, recipe: DataRecipe, n: int, random: torch.Generator) -> NDArray[np.uint8]:
        """Draw sequences: (n, recipe.length) ids, lengths uniform."""
        shortest, longest = self.lengths(recipe.length)
        lengths = torch.randint(shortest, longest + 1, (n, 1), generator=random)
        end = self.first_id + recipe.n_symbols
        ids = torch.randint(self.first_id, end, (n, recipe.length), generator=random)
        return cut_off(ids.numpy(), lengths.numpy())

    def examples(self, ids: Tensor, length: int) -> Examples:
        """Return questions on sequences (N, T), and answers."""
        return Examples(ids, self.answers(ids, length).masked_fill(ids == PAD_ID, IGNORE))

    @property
    def first_id(self) -> int:
        """Return the id of the first symbol."""
        return len(self.specials)

    def read(self, text: str, recipe: DataRecipe) -> Examples:
        """Read a typed sequence with its answer; InputError if it is empty, too long, or has another symbol."""
        symbols = {symbol: i for i, symbol in enumerate(self.symbols(recipe.n_symbols), self.first_id)}
        known, (_, longest) = self.source_symbols(recipe.n_symbols), self.lengths(recipe.length)
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
        return (
            f"It has learnt from sequences of {lengths} of these: {self.join(self.source_symbols(recipe.n_symbols))}."
        )

    def make_data(self, recipe: DataRecipe) -> Data:
        """Return sequences with answers; RecipeError if there are too few."""
        vocabulary = (*self.specials, *self.symbols(recipe.n_symbols))
        train, validation = (self.examples(ids, recipe.length) for ids in self.sequences(recipe))
        example = self.join(vocabulary[i] for i in validation[:1].ids[0].tolist())
        return self.build_data(vocabulary, train, validation, example=example, labels=self.labels(recipe.length))

    def sequences(self, recipe: DataRecipe) -> tuple[Tensor, Tensor]:
        """Draw sequences for training, (N, T) int64, and for validation; none occurs twice.

        Lengths are uniform from half the recipe's on, while there are new ones; RecipeError if none are left.
        """
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


def cut_off(ids: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return the ids (N, T), 0 after each length, (N, 1)."""
    return np.where(np.arange(ids.shape[1]) < lengths, ids, 0).astype(np.uint8)


def _as_ids(rows: list[bytes]) -> Tensor:
    ids = np.frombuffer(b"".join(rows), np.uint8).reshape(len(rows), -1)
    return torch.from_numpy(ids[:, : (ids > 0).sum(1).max()].astype(np.int64))


class Copy(MadeUpTask):
    """Each token's class is the token itself."""

    name, title = "copy", "Copy"
    question = "Say at every position which symbol stands there."
    defaults: ClassVar = {"steps": 200}
    # Each symbol is asked for itself alone: it takes very few sequences, of many symbols, for one to be missing.
    ablation_sizes: ClassVar = {"length": 8, "n_symbols": 26}
    ablation_small = 8

    def answers(self, ids: Tensor, length: int) -> Tensor:
        """Return the sequences themselves."""
        return ids


WRONG = 0.3
"""Share of wrong answers in `CopyWithErrors`."""


class CopyWithErrors(Copy):
    """`Copy` with some wrong training answers."""

    name, title = "copy-with-errors", "Copy, taught with errors"
    question = (
        "Say at every position which symbol stands there. Of the answers to learn from, "
        f"{WRONG:.0%} are wrong; those to measure with are right."
    )
    example_note = "This is one to measure with: its answer is right."
    ablation_sizes: ClassVar = MadeUpTask.ablation_sizes
    ablation_small = 300

    def make_data(self, recipe: DataRecipe) -> Data:
        """Return the data of `Copy`, with errors in training answers."""
        data = super().make_data(recipe)
        random, targets = generator(recipe.seed, "errors"), data.train.targets
        is_wrong = (torch.rand(targets.shape, generator=random) < WRONG) & (targets != IGNORE)
        steps = torch.randint(1, recipe.n_symbols, targets.shape, generator=random)
        others = self.first_id + (targets - self.first_id + steps) % recipe.n_symbols
        train = Examples(data.train.ids, torch.where(is_wrong, others, targets))
        return replace(data, train=train, baseline=commonest_answer_share(train, data.validation))


class Reverse(MadeUpTask):
    """The class is the token at the mirrored position."""

    name, title = "reverse", "Reverse"
    question = "Say at every position which symbol stands there when the sequence is read backwards."

    def answers(self, ids: Tensor, length: int) -> Tensor:
        """Return the class of every token, (N, T) → (N, T)."""
        places = (ids > 0).sum(1, keepdim=True) - 1 - torch.arange(ids.shape[1])
        return ids.gather(1, places.clamp(min=0)).masked_fill(places < 0, 0)


class Sort(MadeUpTask):
    """The class is the token in ascending order."""

    name, title = "sort", "Sort"
    question = "Say at every position which number stands there once the sequence is in ascending order."

    def symbols(self, n_symbols: int) -> tuple[str, ...]:
        """Return numbers from 0."""
        return tuple(map(str, range(n_symbols)))

    def answers(self, ids: Tensor, length: int) -> Tensor:
        """Return the class of every token, (N, T) → (N, T)."""
        last = torch.iinfo(ids.dtype).max
        ordered = ids.masked_fill(ids == 0, last).sort(1).values
        return ordered.masked_fill(ordered == last, 0)


class CountSymbols(MadeUpTask):
    """The class says how often the symbol occurs: 0 is once."""

    name, title = "count", "Count"
    question = "Say at every position how often its symbol occurs in the whole sequence."
    rule = "always answer with the commonest count of the training set"

    def labels(self, length: int) -> tuple[str, ...]:
        """Return counts from 1."""
        return tuple(str(n) for n in range(1, length + 1))

    def answers(self, ids: Tensor, length: int) -> Tensor:
        """Return the class of every token, (N, T) → (N, T)."""
        counts = torch.zeros(len(ids), int(ids.max()) + 1, dtype=torch.int64)  # (N, symbols)
        return counts.scatter_add(1, ids, torch.ones_like(ids)).gather(1, ids) - 1


class DecoderCopy(MadeUpTask):
    """The target is the source, then [EOS]."""

    name, title = "seq2seq-copy", "Copy, with a decoder"
    question = "Read a sequence with the encoder, and say it again with the decoder, symbol by symbol."
    rule = (
        "always answer with the token that is the commonest answer in the training set, a symbol or the [EOS] that "
        "ends every answer"
    )
    defaults: ClassVar = {"steps": 400}
    has_decoder = True
    specials = (*SPECIALS, BOS, EOS)

    def answers(self, ids: Tensor, length: int) -> Tensor:
        """Return the sequences themselves."""
        return ids

    def examples(self, ids: Tensor, length: int) -> Examples:
        """Return targets that end with [EOS]: (N, T) → (N, T + 1)."""
        answers = self.answers(ids, length).masked_fill(ids == PAD_ID, IGNORE)
        lengths = (ids != PAD_ID).sum(1, keepdim=True)
        return Examples(ids, F.pad(answers, (0, 1), value=IGNORE).scatter(1, lengths, EOS_ID))


class DecoderReverse(Reverse, DecoderCopy):
    """The target is the source backwards, then [EOS]."""

    name, title = "seq2seq-reverse", "Reverse, with a decoder"
    question = "Read a sequence with the encoder, and say it backwards with the decoder, symbol by symbol."


BRACKETS = ("(", ")", "[", "]")
"""2k opens the kind k, 2k + 1 closes it."""

BROKEN = 0.2
"""Share of sequences with a replaced bracket."""


class Brackets(MadeUpTask):
    """The class is the partner's position; the last is none."""

    name, title = "brackets", "Match brackets"
    question = "Say for every bracket at which position, counted from 0, its partner stands, or that it has none."
    rule = "always answer with the commonest position of the training set"
    defaults: ClassVar = {"length": 16, "n_train": 8_192, "steps": 800}
    ablation_sizes: ClassVar = {"length": 12}
    counts_symbols = False

    def symbols(self, n_symbols: int) -> tuple[str, ...]:
        """Return both kinds."""
        return BRACKETS

    def labels(self, length: int) -> tuple[str, ...]:
        """Return positions from 0, and `none`."""
        return (*map(str, range(length)), "none")

    def answers(self, ids: Tensor, length: int) -> Tensor:
        """Return partners: a closing bracket belongs to the innermost open one of its kind, else to none."""
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

    def lengths(self, length: int) -> tuple[int, int]:
        """Return even numbers."""
        shortest, longest = super().lengths(length)
        return shortest + shortest % 2, longest - longest % 2

    def draw(self, recipe: DataRecipe, n: int, random: torch.Generator) -> NDArray[np.uint8]:
        """Draw balanced sequences, all of one length equally likely; some are broken.

        Source: Arnold & Sleep 1980, "Uniform random generation of balanced parenthesis strings".
        """
        length = recipe.length
        shortest, longest = self.lengths(length)
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
        return cut_off(self.first_id + drawn, 2 * pairs[:, None])
