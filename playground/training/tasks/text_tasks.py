"""Windows of text, a token a character: which is hidden, which comes next. The end is held back.

Legend: N windows, T characters in each.
"""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from playground.errors import RecipeError
from playground.text.sentences import CONTROL, replace_surrogates
from playground.text.tokenizer import english_texts
from playground.training.tasks.task import (
    IGNORE,
    MASK,
    MASK_ID,
    SPECIALS,
    UNKNOWN_ID,
    Data,
    DataRecipe,
    Examples,
    Task,
    generator,
    share_right,
)

HIDDEN = 0.15
"""Share of hidden characters (Devlin et al. 2018, section 3.1)."""

MAX_KINDS = 200
"""Different characters of a visitor's text; rarer ones are [UNK]."""

HELD_BACK = 10
"""The last 1/HELD_BACK of the text is for validation."""

PRINTABLE = tuple(map(chr, range(ord(" "), ord("~") + 1)))
TYPEWRITTEN = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "–": "-", "—": "-", "…": "..."})


class MaskedCharacters(Task):
    """The class of a [MASK] is the character behind it."""

    name, title = "masked", "Fill in the gaps"
    question = "Say which character each [MASK] hides, from the characters on both sides."
    example_note = "The answer is the hidden characters alone, in their order."
    rule = "always answer with the commonest character that a [MASK] of the training set hides"
    defaults: ClassVar = {"length": 32, "n_train": 16_384, "lr": 3e-3, "steps": 1_000}
    ablation_sizes: ClassVar = {"length": 16}
    reads_text = True

    def make_data(self, recipe: DataRecipe) -> Data:
        """Return windows with gaps; RecipeError if the text can't be learnt from."""
        windows = cut_windows(recipe, recipe.length)
        train = hide_characters(windows.train, generator(recipe.seed, "training gaps"))
        validation = hide_characters(windows.validation, generator(recipe.seed, "validation gaps"))
        hidden = (validation.targets[0] != IGNORE).tolist()
        example = "".join(MASK if gap else character for gap, character in zip(hidden, windows.first, strict=True))
        return self.build_data(windows.vocabulary, train, validation, example=example)


class NextCharacter(Task):
    """The class is the next character."""

    name, title = "characters", "Next character"
    question = "Say at every position which character comes next, from this one and those before it."
    example_note = "The answer is the same text, one character further on."
    rule = "answer with the character that most often follows the present one in the training text"
    defaults: ClassVar = {"length": 64, "n_train": 16_384, "batch_size": 32, "lr": 4e-3}
    ablation_sizes: ClassVar = {"length": 16}
    predicts_next = True
    reads_text = True

    def make_data(self, recipe: DataRecipe) -> Data:
        """Return windows and next characters; RecipeError if the text can't be learnt from."""
        windows = cut_windows(recipe, recipe.length + 1)
        train, validation = (
            Examples(ids[:, :-1].contiguous(), ids[:, 1:].contiguous()) for ids in (windows.train, windows.validation)
        )
        baseline = _commonest_follower_share(windows.train_text, validation)
        return self.build_data(windows.vocabulary, train, validation, example=windows.first, baseline=baseline)


def hide_characters(ids: Tensor, random: torch.Generator) -> Examples:
    """Put [MASK] for 15 % of every window's tokens, one at least: (N, T) → examples.

    Unlike Devlin et al. 2018, section 3.1, no token is replaced by another.
    """
    n_hidden = max(1, round(HIDDEN * ids.shape[1]))
    places = torch.rand(ids.shape, generator=random).topk(n_hidden, dim=1).indices
    hidden = torch.zeros(ids.shape, dtype=torch.bool).scatter(1, places, True)
    return Examples(ids.masked_fill(hidden, MASK_ID), ids.masked_fill(~hidden, IGNORE))


def _commonest_follower_share(text: Tensor, validation: Examples) -> float:
    n = int(max(text.max(), validation.ids.max())) + 1
    counts = (text[:-1] * n + text[1:]).bincount(minlength=n * n).view(n, n)  # (character, follower)
    counts[counts.sum(1) == 0] = text.bincount(minlength=n)  # never seen there: the commonest of all
    return share_right(counts.argmax(1)[validation.ids], validation.targets)


@dataclass(frozen=True)
class Windows:
    """Windows for training and validation, (N, T) int64; none in both."""

    vocabulary: tuple[str, ...]
    """In the order of ids."""
    train: Tensor
    validation: Tensor
    train_text: Tensor
    """(characters,) int64, everything that training may see."""
    first: str
    """The first validation window as text."""


def cut_windows(recipe: DataRecipe, width: int) -> Windows:
    """Cut windows at random places; RecipeError for a text that is blank, too short or repeats itself."""
    text = clean(recipe.text) if recipe.text else help_topics()
    kinds = _kinds(recipe, text) if recipe.text else PRINTABLE
    held_back = len(text) // HELD_BACK
    if held_back < width:
        reason = f"has {len(text):,} characters, too few to hold back a tenth for validation in windows of {width}"
        raise _text_error(recipe, reason, f"a text of at least {HELD_BACK * width:,} characters, or a smaller length,")
    seen, unseen = text[:-held_back], text[-held_back:]
    ids = torch.from_numpy(_encode(text, kinds))
    validation = _starts(unseen, recipe.length, width, recipe.n_validation, generator(recipe.seed, "validation"), ())
    train = _starts(seen, recipe.length, width, recipe.n_train, generator(recipe.seed, "train"), validation)
    if not train:
        reason = "repeats itself: all that it could learn from stands in the last tenth too, which is held back"
        raise _text_error(recipe, reason, "a text that goes on with something new")
    steps = torch.arange(width)
    train_starts, (first, *_) = torch.tensor([*train.values()]), validation
    return Windows(
        vocabulary=(*SPECIALS, *kinds),
        train=ids[train_starts[:, None] + steps],
        validation=ids[len(seen) + torch.tensor([*validation.values()])[:, None] + steps],
        train_text=ids[: len(seen)],
        first=first,
    )


@lru_cache(maxsize=1)
def help_topics() -> str:
    """Return Python's help topics, every paragraph once."""
    paragraphs = (" ".join(paragraph.split()) for topic in english_texts() for paragraph in topic.split("\n\n"))
    return clean(" ".join(dict.fromkeys(paragraphs)).translate(TYPEWRITTEN))


def clean(text: str) -> str:
    """Return a text with single blanks, without [MASK]."""
    return " ".join(CONTROL.sub(" ", replace_surrogates(text)).replace(MASK, " ").split())


def _kinds(recipe: DataRecipe, text: str) -> tuple[str, ...]:
    kinds = Counter(text)
    if not kinds:
        raise _text_error(recipe, "is blank", "a text with letters")
    if len(kinds) == 1:
        reason = f"has one character only, {text[0]!r}: there is nothing to learn"
        raise _text_error(recipe, reason, "a sentence or two")
    return tuple(sorted(kind for kind, _ in kinds.most_common(MAX_KINDS)))


def _text_error(recipe: DataRecipe, reason: str, works: str) -> RecipeError:
    shown = recipe.text if len(recipe.text) <= 20 else f"{recipe.text[:20]}…"
    return RecipeError("text", shown, reason, (works,))


def _encode(text: str, kinds: tuple[str, ...]) -> NDArray[np.int64]:
    points = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    known = np.array([ord(kind) for kind in kinds], np.uint32)
    places = np.searchsorted(known, points).clip(max=len(known) - 1)
    return np.where(known[places] == points, len(SPECIALS) + places, UNKNOWN_ID)


def _starts(
    text: str, length: int, width: int, n: int, random: torch.Generator, taken: Collection[str]
) -> dict[str, int]:
    """Return up to n different windows, and where they begin."""
    found: dict[str, int] = {}
    for start in torch.randperm(len(text) - width + 1, generator=random).tolist():
        window = text[start : start + length]
        if window not in taken and found.setdefault(window, start) == start and len(found) == n:
            break
    return found
