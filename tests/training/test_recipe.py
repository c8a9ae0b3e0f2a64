"""A recipe refuses what can't be, in a sentence that says what would work."""

import math
from dataclasses import fields
from typing import Any

import pytest

from playground.errors import ConfigError, RecipeError
from playground.training.recipe import _CHOICES, _REAL, _TEXT, _WHOLE, Recipe

SWITCHES = [field.name for field in fields(Recipe) if field.type == "bool" or field.type is bool]


def test_the_usual_recipe_is_one() -> None:
    assert Recipe() == Recipe(task="reverse")
    assert hash(Recipe()) == hash(Recipe())


def test_every_field_is_checked() -> None:
    checked = {*_CHOICES, *_TEXT, *_WHOLE, *_REAL, *SWITCHES}
    assert checked == {field.name for field in fields(Recipe)}


@pytest.mark.parametrize("name", [*_WHOLE, *_REAL])
@pytest.mark.parametrize("value", ["8", None, True, math.nan, math.inf, -1, 10**12, [1]])
def test_a_number_that_cannot_be_is_refused(name: str, value: Any) -> None:
    with pytest.raises(RecipeError, match=name) as caught:
        Recipe(**{name: value})
    (works,) = caught.value.works
    assert caught.value.field == name
    Recipe(**{name: works})  # type: ignore[arg-type]
    assert isinstance(caught.value, ConfigError)


@pytest.mark.parametrize("name", _WHOLE)
def test_a_whole_number_has_no_fraction(name: str) -> None:
    with pytest.raises(RecipeError, match="not a whole number"):
        Recipe(**{name: 3.5})  # type: ignore[arg-type]


@pytest.mark.parametrize("name", [*_WHOLE, *_REAL])
def test_both_bounds_are_allowed(name: str) -> None:
    for value in (_WHOLE | _REAL)[name]:
        assert getattr(Recipe(**{name: value}), name) == value  # type: ignore[arg-type]


@pytest.mark.parametrize("name", _CHOICES)
@pytest.mark.parametrize("value", ["", "Reverse", None, 3])
def test_an_unknown_word_is_refused_with_those_that_are_known(name: str, value: Any) -> None:
    with pytest.raises(RecipeError, match=" or ".join(map(str, _CHOICES[name]))):
        Recipe(**{name: value})


@pytest.mark.parametrize("name", SWITCHES)
@pytest.mark.parametrize("value", [0, 1, "true", None])
def test_a_switch_is_on_or_off(name: str, value: Any) -> None:
    with pytest.raises(RecipeError, match="is not a switch"):
        Recipe(**{name: value})


def test_a_text_may_not_be_endless() -> None:
    Recipe(text="a" * 20_000)
    with pytest.raises(RecipeError, match="has 20,001 characters") as caught:
        Recipe(text="a" * 20_001)
    assert len(str(caught.value)) < 200
    with pytest.raises(RecipeError, match="is not text"):
        Recipe(text=3)  # type: ignore[arg-type]
