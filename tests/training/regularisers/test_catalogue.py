"""The catalogue has every switch of a recipe, in the order of the ten, and says where one can do nothing."""

from dataclasses import fields, replace

import pytest

from playground.training.recipe import Recipe
from playground.training.regularisers.catalogue import REGULARISERS, TEN, reason_without_effect, without_regularisers
from tests.training.regularisers.test_switches import BASE, COINS, CONFIG
from tests.training.tiny import train


@pytest.mark.parametrize("switch", REGULARISERS)
def test_a_switch_changes_one_field(switch: str) -> None:
    regulariser = REGULARISERS[switch]
    for recipe in (Recipe(), replace(Recipe(), clip=2.0, dropout_residual=0.5, mask_padding=False, patience=9)):
        for on in (True, False):
            turned = regulariser.switch(recipe, on)
            assert bool(regulariser.strength(turned)) == on
            assert replace(turned, **{switch: getattr(recipe, switch)}) == recipe
            assert type(getattr(turned, switch)) is type(getattr(Recipe(), switch))
    if not regulariser.on_by_default:
        strength = type(regulariser.usual)(3) / 4 if isinstance(regulariser.usual, float) else 3
        assert regulariser.strength(regulariser.switch(Recipe(), True, strength)) == strength


def test_every_switch_of_a_recipe_is_there_in_the_order_of_the_ten() -> None:
    others = {"task", "text", "length", "n_symbols", "n_train", "n_validation", "seed", "steps", "batch_size"}
    others |= {"optimizer", "schedule", "lr", "warmup", "temperature"}
    assert {entry.name for entry in fields(Recipe)} - others == set(REGULARISERS)
    numbers = [regulariser.number for regulariser in REGULARISERS.values()]
    assert numbers == sorted(numbers)
    assert set(numbers) == set(TEN) == set(range(1, 11))
    assert all(bool(regulariser.scale) != regulariser.on_by_default for regulariser in REGULARISERS.values())


def test_plain_is_what_a_recipe_is_by_default() -> None:
    everything = Recipe(**{switch: regulariser.usual for switch, regulariser in REGULARISERS.items()})
    assert without_regularisers(everything) == without_regularisers(Recipe()) == Recipe()
    assert without_regularisers(replace(everything, mask_padding=False, causal=False, layer_norm=False)) == Recipe()


def test_what_cannot_matter_is_named_and_does_not() -> None:
    idle_in = {
        "causal": (BASE, "layer"),
        "mask_padding": (COINS, "layer"),
        "layer_norm": (BASE, "none"),
        "token_swapping": (COINS, "layer"),
    }
    for switch, regulariser in REGULARISERS.items():
        for name, (recipe, norm) in idle_in.items():
            assert bool(reason_without_effect(regulariser, recipe, norm)) == (
                switch == name
                or (switch == "causal" and recipe.task != "characters")
                or (switch in ("mask_padding", "token_swapping") and recipe.task == "characters")
            )
    for switch, (recipe, norm) in idle_in.items():
        short = replace(recipe, steps=3)
        config = replace(CONFIG, norm=norm)  # type: ignore[arg-type]
        on, off = (train(REGULARISERS[switch].switch(short, turned), config).history.loss for turned in (True, False))
        assert on == off
