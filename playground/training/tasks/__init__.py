"""What can be learnt here: made-up sequences whose answer is known, and text."""

from playground.errors import RecipeError
from playground.training.tasks.symbol_tasks import (
    Brackets,
    Copy,
    CopyWithErrors,
    CountSymbols,
    DecoderCopy,
    DecoderReverse,
    Reverse,
    Sort,
)
from playground.training.tasks.task import Data, DataRecipe, Examples, Task
from playground.training.tasks.text_tasks import MaskedCharacters, NextCharacter
from playground.training.tasks.translation import Translate

__all__ = ["TASKS", "Data", "Examples", "Task", "make_data"]


MAX_TRAIN_TOKENS = 4_000_000
"""Of all training sequences; 16 bytes each."""

_TASKS: tuple[type[Task], ...] = (
    *(Copy, CopyWithErrors, Reverse, Sort, CountSymbols, Brackets),
    *(MaskedCharacters, NextCharacter),
    *(DecoderCopy, DecoderReverse, Translate),
)

TASKS: dict[str, Task] = {task.name: task() for task in _TASKS}
"""By name, in the menu's order."""


def make_data(recipe: DataRecipe) -> Data:
    """Return a recipe's data; RecipeError if there are too few sequences, too many tokens, or no text."""
    tokens = recipe.n_train * recipe.length
    if tokens > MAX_TRAIN_TOKENS:
        reason = f"sequences of up to {recipe.length} are {tokens:,} tokens, of which {MAX_TRAIN_TOKENS:,} are the most"
        raise RecipeError("n_train", recipe.n_train, reason, (MAX_TRAIN_TOKENS // recipe.length,))
    return TASKS[recipe.task].make_data(recipe)
