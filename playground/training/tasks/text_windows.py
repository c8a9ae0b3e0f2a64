"""Windows of text, a token a character; the end of the text is held back for validation.

Legend: N windows, T characters in each.
"""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from playground.errors import RecipeError
from playground.text.corpus import english_texts
from playground.text.sentences import CONTROL, replace_surrogates
from playground.training.seeding import generator
from playground.training.tasks.examples import MASK, SPECIALS, UNKNOWN_ID
from playground.training.tasks.task import DataRecipe

MAX_KINDS = 200
"""Different characters of a visitor's own text that are tokens; any rarer one is [UNK]."""

HELD_BACK = 10
"""One part in so many, the last, is for validation."""

PRINTABLE = tuple(map(chr, range(ord(" "), ord("~") + 1)))
TYPEWRITTEN = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "–": "-", "—": "-", "…": "..."})
"""The help topics' few characters outside ASCII that matter."""


@dataclass(frozen=True)
class Windows:
    """Windows of a text for training, and of its end for validation, (N, T) int64; none is among both.

    Attributes:
        vocabulary: the characters that are tokens, in the order of their ids.
        train_text: (characters,) int64, everything that training may see.
        first: the first validation window as text.
    """

    vocabulary: tuple[str, ...]
    train: Tensor
    validation: Tensor
    train_text: Tensor
    first: str


def cut_windows(recipe: DataRecipe, width: int) -> Windows:
    """Windows of a recipe's text, `width` characters each, cut at random places.

    Raises:
        RecipeError: the text is blank, too short, one character again and again, or repeats itself throughout.
    """
    text = clean(recipe.text) if recipe.text else help_topics()
    kinds = _kinds(recipe, text) if recipe.text else PRINTABLE
    _check_length(recipe, text, width)
    held_back = len(text) // HELD_BACK
    seen, unseen = text[:-held_back], text[-held_back:]
    ids = torch.from_numpy(_encode(text, kinds))
    validation = _starts(unseen, recipe.length, width, recipe.n_validation, generator(recipe.seed, "validation"), ())
    train = _starts(seen, recipe.length, width, recipe.n_train, generator(recipe.seed, "train"), validation)
    if not train:
        reason = "repeats itself: its last tenth, which is held back for validation, holds all windows of the rest too"
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
    """Python's help topics, cleaned; they repeat each other, and a paragraph is kept once, lest validation be known."""
    paragraphs = (" ".join(paragraph.split()) for topic in english_texts() for paragraph in topic.split("\n\n"))
    return clean(" ".join(dict.fromkeys(paragraphs)).translate(TYPEWRITTEN))


def clean(text: str) -> str:
    """A text as a sequence of characters: every run of white space and control characters is one blank.

    A [MASK] is taken out: what stood there is not known, so that it can't be learnt.
    """
    return " ".join(CONTROL.sub(" ", replace_surrogates(text)).replace(MASK, " ").split())


def _kinds(recipe: DataRecipe, text: str) -> tuple[str, ...]:
    """The characters of a visitor's text that become tokens, in the order of their code points."""
    kinds = Counter(text)
    if not kinds:
        raise _text_error(recipe, "is blank", "a text with letters")
    if len(kinds) == 1:
        reason = f"has one character only, {text[0]!r}: there is nothing to learn"
        raise _text_error(recipe, reason, "a sentence or two")
    return tuple(sorted(kind for kind, _ in kinds.most_common(MAX_KINDS)))


def _check_length(recipe: DataRecipe, text: str, width: int) -> None:
    held_back = len(text) // HELD_BACK
    if held_back >= width:
        return
    shortest = HELD_BACK * (2 + width - recipe.length)
    if len(text) < shortest:
        reason = f"has {len(text)} characters, and its last tenth, which is held back for validation, holds no window"
        raise _text_error(recipe, reason, f"a text of at least {shortest} characters, at length=2,")
    raise RecipeError(
        "length",
        recipe.length,
        f"is too long a window for a text of {len(text):,} characters, of which the last tenth, {held_back:,}, is held "
        f"back for validation: it takes at least {HELD_BACK * width:,} characters",
        (held_back - width + recipe.length,),
    )


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
    """Up to n windows, and where they begin: their first `length` characters are all different, and none is taken."""
    found: dict[str, int] = {}
    for start in torch.randperm(len(text) - width + 1, generator=random).tolist():
        window = text[start : start + length]
        if window not in taken and found.setdefault(window, start) == start and len(found) == n:
            break
    return found
