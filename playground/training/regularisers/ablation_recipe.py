"""How much a task's network gets to learn from in an ablation: so little that it learns by heart, or plenty."""

from typing import Any, Literal

from playground.training.recipe import Recipe
from playground.training.tasks import TASKS

Amount = Literal["small", "plenty"]

SIZES: dict[str, Any] = {"d_model": 32, "n_heads": 4, "n_layers": 2, "d_ff": 128, "max_len": 64}
"""Of the architecture: small enough for many runs while one waits, and enough to learn a hundred sequences by heart."""

PLENTY = 4096
"""Sequences to learn from, where they are not to be few."""


def ablation_recipe(task: str, amount: Amount, seed: int, strengths: dict[str, Any]) -> Recipe:
    """The run that is varied, with these strengths of the regularisers, by the recipe's fields.

    The amounts differ in the number of sequences to learn from alone: with a `small` one, the validation set falls far
    behind the training set. RecipeError where a strength is out of range.
    """
    return Recipe(
        task=task,
        n_train=TASKS[task].ablation_small if amount == "small" else PLENTY,
        n_validation=512,
        seed=seed,
        steps=500,
        batch_size=32,
        optimizer="adamw",
        lr=2e-3,
        warmup=50,
        **TASKS[task].ablation_sizes,
        **strengths,
    )
