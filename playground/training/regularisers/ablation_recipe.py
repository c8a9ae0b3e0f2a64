"""How much a task's network gets to learn from in an ablation: so little that it learns by heart, or plenty."""

from typing import Any, Literal

from playground.training.recipe import Recipe, TaskName
from playground.training.tasks.catalogue import TASKS

Amount = Literal["small", "plenty"]

SIZES: dict[str, Any] = {"d_model": 32, "n_heads": 4, "n_layers": 2, "d_ff": 128, "max_len": 64}
"""Of the architecture: small enough for many runs while one waits, and enough to learn a hundred sequences by heart."""

SMALL, PLENTY = 100, 4096
"""Sequences to learn from."""

_MATERIAL = {"symbols": {"length": 8, "n_symbols": 8}, "brackets": {"length": 12}, "text": {"length": 16}}
_COPY: dict[str, Any] = {"n_symbols": 26}
_COPY_SMALL = 8
"""Copying asks each symbol for itself alone: it takes very few sequences, of many symbols, for one to be missing."""


def ablation_recipe(task: TaskName, amount: Amount, seed: int, strengths: dict[str, Any]) -> Recipe:
    """The run that is varied; what differs between the amounts is the number of sequences to learn from alone.

    Args:
        task: what is to be learnt.
        amount: `small`, where the validation set falls far behind the training set, or `plenty`.
        seed: of everything random.
        strengths: of the regularisers, by the recipe's fields.

    Raises:
        RecipeError: a strength is out of range.
    """
    small = _COPY_SMALL if task == "copy" else SMALL
    sizes = _MATERIAL[TASKS[task].material] | (_COPY if task == "copy" else {})
    return Recipe(
        task=task,
        n_train=small if amount == "small" else PLENTY,
        n_validation=512,
        seed=seed,
        steps=500,
        batch_size=32,
        optimizer="adamw",
        lr=2e-3,
        warmup=50,
        **sizes,
        **strengths,
    )
