"""What the Training page's settings come to: an architecture, a recipe, its data, and what the run will cost."""

from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from playground.config import ModelConfig
from playground.training.architecture import architecture
from playground.training.cost import Speed, check_cost, measure_speed
from playground.training.network import count_network
from playground.training.recipe import Recipe
from playground.training.tasks import TASKS, Data, make_data
from playground.web.choices import link, shortcuts
from playground.web.choices.experiment_params import RECIPE, TITLES, TRAINED_SIZES
from playground.web.choices.setup import current_setup, current_value
from playground.web.server.settings import settings
from playground.web.session import caches

PAGE = "training"

_OF_DATA = ("task", "text", "length", "n_symbols", "n_train", "n_validation", "seed")
"""The recipe's fields that its data depend on."""


@dataclass(frozen=True)
class Plan:
    """A run that can be started.

    Attributes:
        config: the architecture, with the task's vocabulary.
        recipe: all the rest; what does not count in its task stands at its default.
        n_parameters: of the network, its head or its decoder included.
        seconds: how long the run is likely to take here.
    """

    config: ModelConfig
    recipe: Recipe
    n_parameters: int
    seconds: float

    @property
    def about(self) -> tuple[ModelConfig, Recipe]:
        """What the run's numbers depend on: the recipe's four dropouts count, the architecture's one does not."""
        return replace(self.config, dropout=0.0), self.recipe


def value(name: str) -> Any:
    """One of the page's settings."""
    return current_value(f"{PAGE}_{name}")


def current_recipe() -> Recipe:
    """The recipe that the page's settings and the sidebar's seed describe; raises RecipeError if there is none."""
    asked = {name: value(name) for name in RECIPE}
    return without_idle(Recipe(task=TITLES[value("task")], seed=current_value("seed"), **asked))


def without_idle(recipe: Recipe) -> Recipe:
    """The same run, with every setting that changes nothing in it at its default, so that equal runs are equal."""
    names = [*TASKS[recipe.task].unused_fields]
    if recipe.schedule == "constant":
        names.append("warmup")
    if recipe.distill == 0:
        names.append("temperature")
    plain: Any = Recipe()
    return replace(recipe, **{name: getattr(plain, name) for name in names})


def data(recipe: Recipe) -> Data:
    """The recipe's data, which many runs and visitors share; raises RecipeError if there can be none."""
    return _data(Recipe(**{name: getattr(recipe, name) for name in _OF_DATA}))


def questions(recipe: Recipe) -> Data:
    """The recipe's data with one training sequence only: validation set, vocabulary and classes are all the same."""
    return data(replace(recipe, n_train=1))


def make_plan(recipe: Recipe) -> Plan:
    """Check the recipe, in the architecture that the page and the sidebar describe, against the server's limits.

    Raises:
        ConfigError, RecipeError: the settings do not go together.
        TooLargeError: the run would take more than this server gives.
        BusyError: the machine's speed is not known yet, and no turn to measure it came free.
    """
    sizes = {name: value(name) for name in TRAINED_SIZES}
    made = data(recipe)
    shape = {**current_setup().values, "norm": shortcuts.unlocked_norm(), **sizes}
    config = architecture(link.model_config(shape, vocab_size=1), recipe, made)
    limits = settings()
    seconds = check_cost(
        config,
        recipe,
        speed(),
        max_seconds=limits.max_training_seconds,
        max_parameters=limits.max_parameters,
    )
    return Plan(config, recipe, n_parameters(config, made), seconds)


def n_parameters(config: ModelConfig, made: Data) -> int:
    """Of the whole network: the encoder with its head, or both halves."""
    return count_network(config, made.task, len(made.labels))


@st.cache_resource(max_entries=1, ttl="10m", show_spinner=False)
def speed() -> Speed:
    """How fast this machine trains; measured again from time to time, as others may keep it busy."""
    with caches.TURNS.take():
        return measure_speed(caches.device())


@st.cache_resource(max_entries=4, show_spinner=False)
def _data(recipe: Recipe) -> Data:
    return make_data(recipe)
