"""The link of a page that shows what was trained tells how it was trained, and brings a classmate to the same run."""

from dataclasses import replace
from typing import Any

import pytest

from playground.link import link_values
from playground.link.experiment_params import RECIPE, TITLES, TRAINED_SIZES, TRAINING
from playground.training.recipe import Recipe
from playground.web.choices.address import training_parameters
from tests.training.after.trained import CONFIG
from tests.web.app_test import open_page, sentences

RECIPES = (
    Recipe(),
    Recipe(task="sort", steps=200, optimizer="adamw", weight_decay=0.01, clip=1.0, n_symbols=7, mask_padding=False),
    Recipe(task="characters", text="to be or not to be", length=8, causal=False, distill=0.5, temperature=3.0),
)


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.task)
def test_the_settings_in_a_link_make_the_same_run(recipe: Recipe) -> None:
    config = replace(CONFIG, d_model=32, n_heads=2, n_layers=3, d_ff=64)
    texts = training_parameters(config, recipe)
    read: dict[str, Any] = {key: param.default for key, param in TRAINING.items()}
    for key, written in texts.items():
        read[key], complaint = link_values.read(key, written)
        assert complaint is None
    asked = {name: read[f"training_{name}"] for name in RECIPE}
    again = replace(recipe, task=TITLES[read["training_task"]], **asked)
    assert again == recipe
    assert [read[f"training_{name}"] for name in TRAINED_SIZES] == [32, 2, 3, 64]


def test_the_usual_run_adds_nothing_to_a_link() -> None:
    usual: dict[str, Any] = {name: param.default for name, param in RECIPE.items()}
    sizes: dict[str, Any] = {name: param.default for name, param in TRAINED_SIZES.items()}
    assert training_parameters(replace(CONFIG, **sizes), Recipe(**usual)) == {}


def test_a_link_to_another_page_keeps_the_run_for_the_training_page() -> None:
    app = open_page("attention", weights="trained here", training_task="Sort", training_steps="200")
    (door,) = app.sidebar.get("page_link")
    assert door.proto.label == "Train it as in the link"
    assert door.proto.query_string == "training_task=Sort&training_steps=200"
    assert "the sidebar's button" in sentences(app)
    assert open_page("attention", weights="trained here").sidebar.get("page_link")[0].proto.query_string == ""


def test_the_training_page_has_no_door_to_itself_but_names_its_button() -> None:
    app = open_page("training", weights="trained here", training_task="Sort")
    assert not app.sidebar.get("page_link")
    assert f"**{app.button(key='training_start').label}** on the Training page trains it." in sentences(app)
