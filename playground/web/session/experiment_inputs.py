"""What an experiment needs before it starts: its data, this machine's speed, and how much memory it will take."""

from dataclasses import fields, replace
from typing import Any

import streamlit as st

from playground.config import ModelConfig
from playground.training.cost import Speed, measure_speed
from playground.training.network import count_network
from playground.training.recipe import Recipe, teacher_config
from playground.training.tasks import TASKS, Data, make_data
from playground.training.tasks.task import DataRecipe
from playground.web.session import caches
from playground.web.session.weights_cache import cache_for_everybody

_TRAINING_BYTES = 6 * 4
"""Bytes for each parameter: weight, gradient, Adam's two averages, and a copy that is kept while another is made."""


def training_data(recipe: Recipe) -> Data:
    """The recipe's data, which many runs and visitors share; raises RecipeError if there can be none."""
    return _cached_data(Recipe(**{field.name: getattr(recipe, field.name) for field in fields(DataRecipe)}))


def validation_data(recipe: Recipe) -> Data:
    """The recipe's data with one training sequence only: validation set, vocabulary and classes are all the same."""
    return training_data(replace(recipe, n_train=1))


@cache_for_everybody(max_entries=4)
def _cached_data(recipe: Recipe) -> Data:
    return make_data(recipe)


@st.cache_resource(max_entries=1, ttl="10m", show_spinner=False)
def machine_speed() -> Speed:
    """How fast this machine trains; measured again from time to time, as others may keep it busy.

    Raises:
        BusyError: no turn to measure it came free.
    """
    with caches.TURNS.take():
        return measure_speed(caches.device())


def without_idle(recipe: Recipe) -> Recipe:
    """The same run, with every setting that changes nothing in it at its default, so that equal runs are equal."""
    names = [*TASKS[recipe.task].unused_fields]
    if recipe.schedule == "constant":
        names.append("warmup")
    if recipe.distill == 0:
        names.append("temperature")
    default: Any = Recipe()
    return replace(recipe, **{name: getattr(default, name) for name in names})


def training_bytes(config: ModelConfig, recipe: Recipe, *data: Data) -> int:
    """Memory that a run takes from its first step to its end, with its teacher and its data, in bytes.

    Args:
        config: the architecture, with the task's vocabulary.
        recipe: the run.
        data: its data, and others that are held as long; one at least.
    """
    networks = (config, teacher_config(config)) if recipe.distill > 0 else (config,)
    parts = (part for each in data for examples in (each.train, each.validation) for part in vars(examples).values())
    n_data: int = sum(part.nbytes for part in parts)
    return _TRAINING_BYTES * sum(count_network(each, data[0].task, len(data[0].labels)) for each in networks) + n_data
