"""The training run that the Training page's settings describe, checked, with its cost."""

from dataclasses import dataclass, replace
from typing import Any

from playground.config import ModelConfig
from playground.training.architecture import architecture
from playground.training.cost import check_cost
from playground.training.recipe import Recipe
from playground.web.choices import link, shortcuts
from playground.web.choices.experiment_params import RECIPE, TITLES, TRAINED_SIZES
from playground.web.choices.setup import current_setup, current_value
from playground.web.server.settings import settings
from playground.web.session.experiment_inputs import count_parameters, machine_speed, training_data, without_idle

PAGE = "training"


@dataclass(frozen=True)
class TrainingPlan:
    """A training run that can be started."""

    config: ModelConfig
    """With the task's vocabulary."""
    recipe: Recipe
    """Settings that change nothing in its task are at their defaults."""
    n_parameters: int
    """Of the network, its head or its decoder included."""
    seconds: float
    """How long the run is likely to take here."""

    @property
    def inputs(self) -> tuple[ModelConfig, Recipe]:
        """All that the run's numbers depend on: the recipe's four dropouts count, the architecture's one does not."""
        return replace(self.config, dropout=0.0), self.recipe


def value(name: str) -> Any:
    """One of the page's settings."""
    return current_value(f"{PAGE}_{name}")


def current_recipe() -> Recipe:
    """The recipe that the page's settings and the sidebar's seed describe; raises RecipeError if there is none."""
    values = {name: value(name) for name in RECIPE}
    return without_idle(Recipe(task=TITLES[value("task")], seed=current_value("seed"), **values))


def make_plan(recipe: Recipe) -> TrainingPlan:
    """Check the recipe, in the architecture that the page and the sidebar describe, against the server's limits.

    Raises:
        ConfigError, RecipeError: the settings do not go together.
        TooLargeError: the run would take more than this server gives.
        BusyError: the machine's speed is not known yet, and no turn to measure it came free.
    """
    sizes = {name: value(name) for name in TRAINED_SIZES}
    data = training_data(recipe)
    shape = {**current_setup().values, "norm": shortcuts.unlocked_norm(), **sizes}
    config = architecture(link.model_config(shape, vocab_size=1), recipe, data)
    limits = settings()
    seconds = check_cost(
        config,
        recipe,
        machine_speed(),
        max_seconds=limits.max_training_seconds,
        max_parameters=limits.max_parameters,
    )
    return TrainingPlan(config, recipe, count_parameters(config, data), seconds)
