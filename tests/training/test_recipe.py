"""A recipe refuses what can't be, in a sentence that says what would work, and what is too dear."""

from dataclasses import fields, replace
from typing import Any

import pytest
import torch

from playground import ModelConfig, count_parameters
from playground.errors import ConfigError, RecipeError, TooLargeError
from playground.training.network import count_network
from playground.training.recipe import Recipe
from playground.training.tasks import TASKS
from playground.training.trainer import MAX_ACTIVATIONS, Speed, check_cost, measure_speed


def refused(name: str, value: Any, message: str) -> RecipeError:
    with pytest.raises(RecipeError, match=message) as caught:
        Recipe(**{name: value})
    assert isinstance(caught.value, ConfigError)
    assert caught.value.field == name
    return caught.value


def test_every_field_is_checked() -> None:
    for field in fields(Recipe):
        assert field.name == "text" or refused(field.name, None, field.name).works
    assert refused("task", "Reverse", "is not a choice").works == tuple(TASKS)


def test_a_text_may_not_be_endless() -> None:
    Recipe(text="a" * 20_000)
    assert len(str(refused("text", "a" * 20_001, "has 20,001 characters"))) < 200


USUAL = ModelConfig(vocab_size=13, d_model=64, n_heads=4, n_layers=2, d_ff=256, max_len=256)
SPEED = Speed(layer=1e-3, operation=1e-10)


def check(recipe: Recipe, max_seconds: float = 300.0, max_parameters: int = 10**7) -> None:
    check_cost(USUAL, recipe, SPEED, max_seconds=max_seconds, max_parameters=max_parameters)


def test_more_work_takes_longer() -> None:
    less = (("d_model", 128), ("n_layers", 4), ("d_ff", 512), ("batch_size", 128))
    more = (("steps", 1200), ("n_validation", 4096), ("length", 24), ("distill", 0.5), ("task", "seq2seq-reverse"))
    for field, value in (*less, *more):
        changed: dict[str, Any] = {field: value}
        is_size = field in vars(USUAL)
        config, recipe = (replace(USUAL, **changed), Recipe()) if is_size else (USUAL, Recipe(**changed))
        factor = 1.1 if (field, value) in less else 1.3
        assert SPEED.seconds(config, recipe) > factor * SPEED.seconds(USUAL, Recipe()), field


@pytest.mark.parametrize("task", ["reverse", "seq2seq-reverse"])
def test_what_is_too_dear_is_refused(task: str) -> None:
    recipe = Recipe(task=task)
    n, seconds = count_network(USUAL, TASKS[task], USUAL.vocab_size), SPEED.seconds(USUAL, recipe)
    check(recipe, max_seconds=seconds, max_parameters=n)
    with pytest.raises(TooLargeError, match="choose fewer steps"):
        check(recipe, max_seconds=0.99 * seconds)
    with pytest.raises(TooLargeError, match="parameters"):
        check(recipe, max_parameters=n - 1 if "seq2seq" in task else count_parameters(USUAL).total - 1)
    with pytest.raises(TooLargeError, match=f"{MAX_ACTIVATIONS:,}"):
        check(replace(recipe, length=256, batch_size=512, n_train=10_000))


@pytest.mark.long
def test_a_machine_s_speed_is_measured() -> None:
    speed = measure_speed(torch.device("cpu"))
    assert 0 < speed.operation < speed.layer < 10
