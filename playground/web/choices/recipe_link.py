"""A training run's settings in the link of any page: a trained network can't travel, but its recipe can."""

import streamlit as st

from playground.config import ModelConfig
from playground.link.experiment_params import RECIPE, TRAINED_SIZES, TRAINING
from playground.link.params import write_changed
from playground.training.recipe import Recipe
from playground.training.tasks import TASKS
from playground.web.choices.setup import OPEN_PAGE, Setup

_FROM_LINK = "_linked_run"
"""Session key of the settings that a link brought to a page other than the Training page."""


def training_parameters(config: ModelConfig, recipe: Recipe) -> dict[str, list[str]]:
    """The Training page's parameters that make this run again, as texts; those at their defaults are left out."""
    values = {name: getattr(recipe, name) for name in RECIPE} | {name: getattr(config, name) for name in TRAINED_SIZES}
    values["task"] = TASKS[recipe.task].title
    return write_changed({f"training_{name}": value for name, value in values.items()})


def parameters_to_copy(setup: Setup) -> dict[str, list[str]]:
    """What the copied link holds beside the page's own parameters, so that a classmate can train the same."""
    if setup["weights"] != "trained here" or is_training_page():
        return {}
    trained = setup.trained_network
    return training_parameters(trained.config, trained.recipe) if trained else parameters_from_link()


def is_training_page() -> bool:
    """Whether the page that is drawn has these settings as its own."""
    return bool(st.session_state.get(OPEN_PAGE) == "training")


def training_button_label() -> str:
    """What the sidebar calls its button to the Training page, where nothing was trained yet."""
    return "Train it as in the link" if parameters_from_link() else "Train a network"


def parameters_from_link() -> dict[str, list[str]]:
    """The Training page's parameters that the link came with, for as long as the session lasts."""
    texts = {key: st.query_params.get_all(key) for key in st.query_params if key in TRAINING}
    if texts:
        st.session_state[_FROM_LINK] = texts
    saved: dict[str, list[str]] = st.session_state.get(_FROM_LINK, {})
    return saved
