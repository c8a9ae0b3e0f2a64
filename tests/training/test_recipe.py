"""A recipe refuses what can't be, in a sentence that says what would work, and what is too dear."""

import math
from dataclasses import fields, replace
from typing import Annotated, Any, Literal, get_args, get_origin

import pytest
import torch

from playground import ModelConfig, count_parameters
from playground.errors import ConfigError, RecipeError, TooLargeError
from playground.training.job import MAX_ACTIVATIONS, Speed, check_cost, measure_speed
from playground.training.network import count_network
from playground.training.recipe import Recipe
from playground.training.tasks import TASKS

CHOICES = {"task": tuple(TASKS)} | {
    field.name: get_args(field.type) for field in fields(Recipe) if get_origin(field.type) is Literal
}
RANGES = {field.name: get_args(field.type)[1] for field in fields(Recipe) if get_origin(field.type) is Annotated}
SWITCHES = [field.name for field in fields(Recipe) if type(field.default) is bool]
WHOLE = [field.name for field in fields(Recipe) if type(field.default) is int]


def refused(name: str, value: Any, message: str) -> RecipeError:
    with pytest.raises(RecipeError, match=message) as caught:
        Recipe(**{name: value})
    assert isinstance(caught.value, ConfigError)
    assert caught.value.field == name
    return caught.value


def test_every_field_is_checked() -> None:
    assert Recipe() == Recipe(task="reverse")
    assert {*CHOICES, "text", *RANGES, *SWITCHES} == {field.name for field in fields(Recipe)}


@pytest.mark.parametrize("name", RANGES)
def test_a_number_that_cannot_be_is_refused(name: str) -> None:
    for value in ("8", None, True, math.nan, math.inf, -1, 10**12, [1]):
        (works,) = refused(name, value, name).works
        Recipe(**{name: works})  # type: ignore[arg-type]
    for value in RANGES[name]:  # both bounds are allowed
        assert getattr(Recipe(**{name: value}), name) == value
    if name in WHOLE:
        refused(name, 3.5, "not a whole number")


@pytest.mark.parametrize("name", CHOICES)
def test_an_unknown_word_is_refused_with_those_that_are_known(name: str) -> None:
    for value in ("", "Reverse", None, 3):
        assert refused(name, value, "is not a choice").works == CHOICES[name]


def test_a_text_may_not_be_endless() -> None:
    Recipe(text="a" * 20_000)
    assert len(str(refused("text", "a" * 20_001, "has 20,001 characters"))) < 200
    refused("text", 3, "is not text")


USUAL = ModelConfig(vocab_size=13, d_model=64, n_heads=4, n_layers=2, d_ff=256, max_len=256)
SPEED = Speed(layer=1e-3, operation=1e-10)


def check(config: ModelConfig = USUAL, recipe: Recipe | None = None, max_seconds: float = 300.0) -> float:
    return check_cost(config, recipe or Recipe(), SPEED, max_seconds=max_seconds, max_parameters=10_000_000)


def test_more_work_takes_longer() -> None:
    less = (("d_model", 128), ("n_layers", 4), ("d_ff", 512), ("batch_size", 128))
    more = (("steps", 1200), ("n_validation", 4096), ("length", 24), ("distill", 0.5), ("task", "seq2seq-reverse"))
    for field, value in (*less, *more):
        changed: dict[str, Any] = {field: value}
        cost = check(replace(USUAL, **changed)) if field in vars(USUAL) else check(recipe=Recipe(**changed))
        assert cost > (1.1 if (field, value) in less else 1.3) * check(), field


def test_a_run_that_takes_too_long_or_a_batch_that_needs_too_much_memory_is_refused() -> None:
    seconds = check(recipe=Recipe(steps=1_000))
    assert check(recipe=Recipe(steps=1_000), max_seconds=seconds) == seconds
    with pytest.raises(TooLargeError, match="choose fewer steps"):
        check(recipe=Recipe(steps=1_000), max_seconds=0.99 * seconds)
    with pytest.raises(TooLargeError, match=f"at most {MAX_ACTIVATIONS:,}"):
        check(recipe=Recipe(length=256, batch_size=512, n_train=10_000, steps=1))


@pytest.mark.parametrize("task", ["reverse", "seq2seq-reverse"])
def test_a_model_above_the_budget_is_refused(task: str) -> None:
    recipe = Recipe(task=task, steps=1)
    n = count_network(USUAL, TASKS[task], USUAL.vocab_size)
    check_cost(USUAL, recipe, SPEED, max_seconds=300, max_parameters=n)
    below = n - 1 if task == "seq2seq-reverse" else count_parameters(USUAL).total - 1
    with pytest.raises(TooLargeError, match="parameters"):
        check_cost(USUAL, recipe, SPEED, max_seconds=300, max_parameters=below)


def test_a_machine_s_speed_is_measured() -> None:
    speed = measure_speed(torch.device("cpu"))
    assert 0 < speed.operation < speed.layer < 10
