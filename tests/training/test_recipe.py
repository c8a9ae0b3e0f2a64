"""A recipe refuses what can't be, in a sentence that says what would work."""

import math
from dataclasses import fields
from typing import Annotated, Any, Literal, get_args, get_origin

import pytest

from playground.errors import ConfigError, RecipeError
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


@pytest.mark.parametrize("name", SWITCHES)
def test_a_switch_is_on_or_off(name: str) -> None:
    for value in (0, 1, "true", None):
        refused(name, value, "is not a switch")


def test_a_text_may_not_be_endless() -> None:
    Recipe(text="a" * 20_000)
    assert len(str(refused("text", "a" * 20_001, "has 20,001 characters"))) < 200
    refused("text", 3, "is not text")
