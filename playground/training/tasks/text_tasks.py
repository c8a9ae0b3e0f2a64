"""Two questions about windows of text: which character is hidden, and which one comes next.

Legend: N windows, T characters in each.
"""

from typing import ClassVar

import torch
from torch import Tensor

from playground.text.builders import word_level_tokenizer
from playground.training.seeding import generator
from playground.training.tasks.examples import (
    IGNORE,
    MASK,
    MASK_ID,
    Examples,
    commonest_answer_share,
    share_right,
)
from playground.training.tasks.task import Data, DataRecipe, Task
from playground.training.tasks.text_windows import Windows, cut_windows

HIDDEN = 0.15
"""The share of a window's characters that has to be guessed (Devlin et al. 2018, section 3.1)."""


class MaskedCharacters(Task):
    """Some characters are shown as [MASK]; each one's class is the character behind it."""

    name, title = "masked", "Fill in the gaps"
    question = "Say which character stands behind each [MASK], from the characters on both sides."
    rule = "always answer with the commonest character behind a [MASK] of the training set"
    defaults: ClassVar = {"length": 32, "n_train": 16_384, "lr": 3e-3, "steps": 1_000}
    ablation_sizes: ClassVar = {"length": 16}
    reads_text = True

    def make_data(self, recipe: DataRecipe) -> Data:
        """Windows with gaps; RecipeError where the text can't be learnt from."""
        windows = cut_windows(recipe, recipe.length)
        train = hide_characters(windows.train, generator(recipe.seed, "training gaps"))
        validation = hide_characters(windows.validation, generator(recipe.seed, "validation gaps"))
        hidden = (validation.targets[0] != IGNORE).tolist()
        example = "".join(MASK if gap else character for gap, character in zip(hidden, windows.first, strict=True))
        return _data(self, windows, (train, validation), commonest_answer_share(train, validation), example)


class NextCharacter(Task):
    """Each character's class is the one that follows it."""

    name, title = "characters", "Next character"
    question = "Say at every position which character comes next, from this one and those before it."
    rule = "answer with the character that most often follows the present one in the training text"
    defaults: ClassVar = {"length": 64, "n_train": 16_384, "batch_size": 32, "lr": 4e-3}
    ablation_sizes: ClassVar = {"length": 16}
    predicts_next = True
    reads_text = True

    def make_data(self, recipe: DataRecipe) -> Data:
        """Windows and what follows each character; RecipeError where the text can't be learnt from."""
        windows = cut_windows(recipe, recipe.length + 1)
        train, validation = _ask_next(windows.train), _ask_next(windows.validation)
        return _data(
            self, windows, (train, validation), _commonest_follower_share(windows.train_text, validation), windows.first
        )


def hide_characters(ids: Tensor, random: torch.Generator) -> Examples:
    """[MASK] for 15 % of every window's tokens, one at least: (N, T) → examples that ask for what it hides.

    Unlike Devlin et al. 2018, section 3.1, no token is replaced by another one, or asked for without being hidden.
    """
    n_hidden = max(1, round(HIDDEN * ids.shape[1]))
    places = torch.rand(ids.shape, generator=random).topk(n_hidden, dim=1).indices
    hidden = torch.zeros(ids.shape, dtype=torch.bool).scatter(1, places, True)
    return Examples(ids.masked_fill(hidden, MASK_ID), ids.masked_fill(~hidden, IGNORE))


def _ask_next(ids: Tensor) -> Examples:
    """The next token is asked at every position: (N, T + 1) → T positions."""
    return Examples(ids[:, :-1].contiguous(), ids[:, 1:].contiguous())


def _commonest_follower_share(text: Tensor, validation: Examples) -> float:
    """How often the commonest follower of the present character, in the training text, is the next one."""
    n = int(max(text.max(), validation.ids.max())) + 1
    counts = (text[:-1] * n + text[1:]).bincount(minlength=n * n).view(n, n)  # (character, follower)
    counts[counts.sum(1) == 0] = text.bincount(minlength=n)  # never seen there: the commonest of all
    return share_right(counts.argmax(1)[validation.ids], validation.targets)


def _data(task: Task, windows: Windows, sets: tuple[Examples, Examples], baseline: float, example: str) -> Data:
    tokenizer = word_level_tokenizer(windows.vocabulary, blanks_between=False)
    labels = tuple(map(tokenizer.id_to_token, range(tokenizer.vocab_size)))
    return Data(task, tokenizer, windows.vocabulary, labels, *sets, baseline, example)
