"""What a comparison of regularisers trains: a baseline, and beside it one training for each, with that switched.

A network gets so little to learn from that it learns by heart, or plenty. All of it may be run with several seeds.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, Literal

from playground.config import ModelConfig
from playground.text.wording import lower_first
from playground.training.ablation import AblationTraining
from playground.training.recipe import Recipe
from playground.training.regularisers.catalogue import REGULARISERS, Regulariser, without_regularisers
from playground.training.tasks import TASKS

Amount = Literal["small", "plenty"]

SIZES: dict[str, Any] = {"d_model": 32, "n_heads": 4, "n_layers": 2, "d_ff": 128, "max_len": 64}
"""Of the architecture: small enough for many trainings while one waits, large enough to learn a hundred
sequences by heart."""

PLENTY = 4096
"""Sequences to learn from, where they are not to be few."""


def ablation_recipe(task: str, amount: Amount, seed: int, strengths: dict[str, Any]) -> Recipe:
    """The training that is varied, with these strengths of the regularisers, by the recipe's fields.

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


def ablation_trainings(
    config: ModelConfig, recipe: Recipe, chosen: Sequence[str], n_seeds: int = 1
) -> tuple[AblationTraining, ...]:
    """The trainings that tell what each chosen regulariser does, each at the recipe's strength, or at its usual one.

    The baseline has none but what a transformer has by nature. Of those, masks and norms, choosing one takes it away.
    Where several can be added, one more has them all. All come with the recipe's seed, then with the next one, ….

    A training's name is the regulariser's field, `none` for the baseline, `all` for the one with all of them.

    Args:
        config: the architecture of them all.
        recipe: the task, the strengths, and the first seed.
        chosen: fields of regularisers, in any order; KeyError where there is no such regulariser.
        n_seeds: how often each is done.
    """
    baseline = without_regularisers(recipe)
    wanted = [REGULARISERS[field] for field in chosen]
    turned = [regulariser for regulariser in REGULARISERS.values() if regulariser in wanted]

    def turn(recipe_so_far: Recipe, regulariser: Regulariser) -> Recipe:
        strength = regulariser.strength_in(recipe) or regulariser.usual
        change: dict[str, Any] = {regulariser.field: not regulariser.on_by_default and strength}
        return replace(recipe_so_far, **change)

    trainings = [AblationTraining("none", "plain run", baseline, config)]
    for regulariser in turned:
        title = lower_first(regulariser.choice) if regulariser.on_by_default else regulariser.title
        trainings.append(AblationTraining(regulariser.field, title, turn(baseline, regulariser), config))
    added = [regulariser for regulariser in turned if not regulariser.on_by_default]
    if len(added) > 1:
        title = "all of these" if added == turned else "all that can be added"
        trainings.append(AblationTraining("all", title, reduce(turn, added, baseline), config))
    seeds = range(recipe.seed, recipe.seed + n_seeds)
    return tuple(
        replace(training, recipe=replace(training.recipe, seed=seed)) for seed in seeds for training in trainings
    )
