"""Windows of text, a token a character: which is hidden, which comes next. Legend: N windows, T characters."""

from collections import Counter
from collections.abc import Collection
from functools import lru_cache

import torch
from torch import Tensor

from playground.errors import RecipeError
from playground.text.sentences import CONTROL, replace_surrogates
from playground.text.tokenizer import english_texts
from playground.training.recipe import (
    IGNORE,
    MASK,
    MASK_ID,
    SPECIALS,
    UNKNOWN_ID,
    Data,
    Examples,
    Recipe,
    Task,
    build_data,
    generator,
    share_right,
)

HIDDEN = 0.15
"""Share of hidden characters; unlike Devlin et al. 2018, section 3.1, none is replaced by another."""

MAX_KINDS = 200
"""Of a text; rarer ones are [UNK]."""

HELD_BACK = 10
"""The last 1/HELD_BACK of the text is for validation."""

PRINTABLE = tuple(map(chr, range(ord(" "), ord("~") + 1)))
TYPEWRITTEN = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "–": "-", "—": "-", "…": "..."})


def hide_characters(ids: Tensor, random: torch.Generator) -> Examples:
    """Put [MASK] for 15 % of every window's tokens, one at least: (N, T) → examples."""
    n_hidden = max(1, round(HIDDEN * ids.shape[1]))
    places = torch.rand(ids.shape, generator=random).topk(n_hidden, dim=1).indices
    hidden = torch.zeros(ids.shape, dtype=torch.bool).scatter(1, places, True)
    return Examples(ids.masked_fill(hidden, MASK_ID), ids.masked_fill(~hidden, IGNORE))


class TextTask(Task):
    """A task on windows of text: which character a [MASK] hides, or which comes next."""

    def make_data(self, recipe: Recipe) -> Data:
        """Return windows with targets; RecipeError if the text can't be learnt from."""
        vocabulary, train_text, *windows, first = cut_windows(recipe, recipe.length + self.predicts_next)
        if self.predicts_next:
            train, validation = (Examples(ids[:, :-1].contiguous(), ids[:, 1:].contiguous()) for ids in windows)
            baseline = _commonest_follower_share(train_text, validation)
            return build_data(self, vocabulary, train, validation, first, baseline=baseline)
        train, validation = (
            hide_characters(ids, generator(recipe.seed, f"{name} gaps"))
            for ids, name in zip(windows, ("training", "validation"), strict=True)
        )
        hidden = (validation.targets[0] != IGNORE).tolist()
        example = "".join(MASK if gap else character for gap, character in zip(hidden, first, strict=True))
        return build_data(self, vocabulary, train, validation, example)


def _commonest_follower_share(text: Tensor, validation: Examples) -> float:
    n = int(max(text.max(), validation.ids.max())) + 1
    counts = (text[:-1] * n + text[1:]).bincount(minlength=n * n).view(n, n)  # (character, follower)
    counts[counts.sum(1) == 0] = text.bincount(minlength=n)  # never seen there: the commonest of all
    return share_right(counts.argmax(1)[validation.ids], validation.targets)


def cut_windows(recipe: Recipe, width: int) -> tuple[tuple[str, ...], Tensor, Tensor, Tensor, str]:
    """Return a vocabulary, the ids for training, windows of them and of the rest, (N, width), and the rest's first."""
    text = clean(recipe.text) if recipe.text else help_topics()
    kinds = tuple(sorted(kind for kind, _ in Counter(text).most_common(MAX_KINDS))) if recipe.text else PRINTABLE
    held_back = len(text) // HELD_BACK
    if held_back < width:
        reason = f"has {len(text):,} characters, too few to hold back a tenth for validation in windows of {width}"
        works = f"a text of at least {HELD_BACK * width:,} characters, or a smaller length,"
        raise RecipeError("text", f"{recipe.text[:20]}…", reason, (works,))
    seen, unseen = text[:-held_back], text[-held_back:]
    known = {kind: i for i, kind in enumerate(kinds, start=len(SPECIALS))}
    ids = torch.tensor([known.get(character, UNKNOWN_ID) for character in text])
    validation = _starts(unseen, recipe.length, width, recipe.n_validation, generator(recipe.seed, "validation"), ())
    train = _starts(seen, recipe.length, width, recipe.n_train, generator(recipe.seed, "train"), validation)
    if not train:
        reason = "repeats itself: all that it could learn from stands in the last tenth too, which is held back"
        raise RecipeError("text", f"{recipe.text[:20]}…", reason, ("a text that goes on with something new",))
    steps = torch.arange(width)
    train_starts, (first, *_) = torch.tensor([*train.values()]), validation
    seen_windows = ids[train_starts[:, None] + steps]
    unseen_windows = ids[len(seen) + torch.tensor([*validation.values()])[:, None] + steps]
    return (*SPECIALS, *kinds), ids[: len(seen)], seen_windows, unseen_windows, first


@lru_cache(maxsize=1)
def help_topics() -> str:
    """Return Python's help topics, every paragraph once."""
    paragraphs = (" ".join(paragraph.split()) for topic in english_texts() for paragraph in topic.split("\n\n"))
    return clean(" ".join(dict.fromkeys(paragraphs)).translate(TYPEWRITTEN))


def clean(text: str) -> str:
    """Return a text with single blanks, without [MASK]."""
    return " ".join(CONTROL.sub(" ", replace_surrogates(text)).replace(MASK, " ").split())


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


MASKED = TextTask(
    "masked",
    "Fill in the gaps",
    reads_text=True,
    defaults={"length": 32, "n_train": 16_384, "lr": 3e-3, "steps": 1_000},
    ablation_sizes={"length": 16},
)
CHARACTERS = TextTask(
    "characters",
    "Next character",
    reads_text=True,
    defaults={"length": 64, "n_train": 16_384, "batch_size": 32, "lr": 4e-3},
    ablation_sizes={"length": 16},
    predicts_next=True,
)
