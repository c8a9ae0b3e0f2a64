"""What can be learnt here: made-up sequences whose answer is known, and text."""

from playground.errors import RecipeError
from playground.training.recipe import Data, Recipe, Task
from playground.training.tasks import symbol_tasks as made_up
from playground.training.tasks.text_tasks import CHARACTERS, MASKED
from playground.training.tasks.translation import TRANSLATE

MAX_TRAIN_TOKENS = 4_000_000
"""Of all training sequences; 16 bytes each."""

_HERE: tuple[Task, ...] = (made_up.COPY, made_up.REVERSE, made_up.SORT, made_up.COUNT, MASKED, CHARACTERS)
_WITH_DECODER: tuple[Task, ...] = (made_up.DECODER_COPY, made_up.DECODER_REVERSE, TRANSLATE)

TASKS: dict[str, Task] = {task.name: task for task in _HERE + _WITH_DECODER}
"""By name, in the menu's order."""


def make_data(recipe: Recipe) -> Data:
    """Return a recipe's data; RecipeError if there can be none."""
    tokens = recipe.n_train * recipe.length
    if tokens > MAX_TRAIN_TOKENS:
        reason = f"sequences of up to {recipe.length} are {tokens:,} tokens, of which {MAX_TRAIN_TOKENS:,} are the most"
        raise RecipeError("n_train", recipe.n_train, reason, (MAX_TRAIN_TOKENS // recipe.length,))
    return TASKS[recipe.task].make_data(recipe)
