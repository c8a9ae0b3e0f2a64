"""A training run's settings in the link of any page: what was trained can't travel, but how it was trained can."""

import streamlit as st

from playground.config import ModelConfig
from playground.training.recipe import Recipe
from playground.training.tasks import TASKS
from playground.web.choices.experiment_params import RECIPE, TRAINED_SIZES, TRAINING
from playground.web.choices.params import write_all
from playground.web.choices.state import OPEN, Setup

LINKED = "_linked_run"
"""Session key of the settings that a link brought to a page other than the Training page."""

_PREFIX = "training_"


def settings_of(config: ModelConfig, recipe: Recipe) -> dict[str, list[str]]:
    """The Training page's parameters that make this run again, as texts; those at their defaults are left out."""
    values = {name: getattr(recipe, name) for name in RECIPE} | {name: getattr(config, name) for name in TRAINED_SIZES}
    values["task"] = TASKS[recipe.task].title
    texts = {f"{_PREFIX}{name}": write_all(value) for name, value in values.items()}
    return {key: text for key, text in texts.items() if text != write_all(TRAINING[key].default)}


def to_carry(setup: Setup) -> dict[str, list[str]]:
    """What the link of this page carries beside its own parameters, so that a classmate can train the same."""
    if setup["weights"] != "trained here" or on_training_page():
        return {}
    return settings_of(setup.trained.config, setup.trained.recipe) if setup.trained else linked()


def on_training_page() -> bool:
    """Whether the page that is drawn has these settings as its own."""
    return bool(st.session_state.get(OPEN) == "training")


def linked() -> dict[str, list[str]]:
    """The settings that the link came with, kept for as long as the session goes on."""
    brought = {key: st.query_params.get_all(key) for key in st.query_params if key in TRAINING}
    if brought:
        st.session_state[LINKED] = brought
    kept: dict[str, list[str]] = st.session_state.get(LINKED, {})
    return kept
