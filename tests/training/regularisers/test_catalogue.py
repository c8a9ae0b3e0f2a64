"""The catalogue has every switch of a recipe, in the order of the ten, and says where one can do nothing."""

from dataclasses import fields, replace

import pytest

from playground.training.recipe import Recipe
from playground.training.regularisers.ablation import ablation_trainings
from playground.training.regularisers.catalogue import REGULARISERS, TEN, reason_without_effect, without_regularisers
from tests.training.regularisers.test_switches import BASE, COINS, CONFIG
from tests.training.tiny import train


@pytest.mark.parametrize("switch", REGULARISERS)
def test_a_switch_changes_one_field(switch: str) -> None:
    regulariser = REGULARISERS[switch]
    for recipe in (Recipe(), replace(Recipe(), clip=2.0, dropout_residual=0.5, mask_padding=False, patience=9)):
        plain, turned = (run.recipe for run in ablation_trainings(recipe, [switch]))
        wanted = False if regulariser.on_by_default else getattr(recipe, switch) or regulariser.usual
        assert getattr(turned, switch) == wanted
        assert replace(turned, **{switch: getattr(plain, switch)}) == plain
        assert type(getattr(turned, switch)) is type(getattr(Recipe(), switch))


def test_every_switch_of_a_recipe_is_there_in_the_order_of_the_ten() -> None:
    others = {"task", "text", "length", "n_symbols", "n_train", "n_validation", "seed", "steps", "batch_size"}
    others |= {"optimizer", "schedule", "lr", "warmup", "temperature"}
    assert {entry.name for entry in fields(Recipe)} - others == set(REGULARISERS)
    numbers = [regulariser.number for regulariser in REGULARISERS.values()]
    assert numbers == sorted(numbers)
    assert set(numbers) == set(TEN) == set(range(1, 11))
    assert all(bool(regulariser.scale) != regulariser.on_by_default for regulariser in REGULARISERS.values())


def test_what_is_on_by_default_is_chosen_by_going_without_it() -> None:
    names = [regulariser.choice for regulariser in REGULARISERS.values() if regulariser.on_by_default]
    assert names == ["Without padding mask", "Without causal mask", "Without layer normalisation"]
    assert all(each.choice == each.title for each in REGULARISERS.values() if not each.on_by_default)


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
        "shuffling": (COINS, "layer"),
    }
    for switch, regulariser in REGULARISERS.items():
        for name, (recipe, norm) in idle_in.items():
            assert bool(reason_without_effect(regulariser, recipe, norm)) == (
                switch == name
                or (switch == "causal" and recipe.task != "characters")
                or (switch in ("mask_padding", "token_swapping", "shuffling") and recipe.task == "characters")
            )
    for switch, (recipe, norm) in idle_in.items():
        short = replace(recipe, steps=3)
        config = replace(CONFIG, norm=norm)  # type: ignore[arg-type]
        usual = REGULARISERS[switch].usual
        strengths = (usual, type(usual)(0))
        on, off = (train(replace(short, **{switch: each}), config).history.loss for each in strengths)
        assert on == off
