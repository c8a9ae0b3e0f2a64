"""A visitor's experiments in the background, stopped when the connection breaks."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from playground.accounting import count_flops
from playground.config import ModelConfig
from playground.jobs import Computation, JobHandle, JobStatus, OnEnd, Request, S
from playground.language.learner import Learner, Learning
from playground.language.network import Spec, save
from playground.training.network import count_network
from playground.training.recipe import DATA_FIELDS, Data, Recipe, teacher_config
from playground.training.tasks import TASKS, make_data
from playground.training.trainer import Speed, measure_speed
from playground.training.variants import VariantRun, VariantsState, VariantTraining, seeds_of
from playground.web.session.services import MemoryReservation, services

DELAY = 2.0
"""Ratio of a run's time beside pages to what is measured."""

Experiment = JobHandle


def join_experiment(
    inputs: Any, request: Request[S], on_end: OnEnd[S] | None = None, *, n_bytes: int, key: Hashable, keep: bool = True
) -> Experiment[S]:
    """Start a job, or join an equal one; it fails if the server has less than `n_bytes` of memory for it.

    `inputs` are compared with the page's settings; the others are those of `JobPool.join`.
    """
    memory, budget = MemoryReservation(n_bytes), services().memory
    on_start, on_over = partial(budget.reserve, memory), lambda _: budget.release(memory)
    handle = services().pool.join(key, request, on_end, keep=keep, on_start=on_start, on_over=on_over)
    handle.inputs = inputs
    return handle


def request(kind: Callable[..., Computation[S]], arguments: tuple[Any, ...], data: Any = None) -> Request[S]:
    """Return what to compute, on this server's device."""
    here = services()
    return Request(kind, arguments, str(here.device), here.settings.threads, data)


_TEXT_BYTES = 16_000_000

_TRAINING_BYTES = 6 * 4
"""Bytes for each parameter: weight, gradient, Adam's two averages, two copies."""


def training_data(recipe: Recipe) -> Data:
    """Return the recipe's data, which runs share; RecipeError if there can be none."""
    return _cached_data(Recipe(**{name: vars(recipe)[name] for name in DATA_FIELDS}))


def validation_data(recipe: Recipe) -> Data:
    """Return the same with one training sequence only."""
    return training_data(replace(recipe, n_train=1))


@st.cache_resource(max_entries=4, show_spinner=False)
def _cached_data(recipe: Recipe) -> Data:
    return make_data(recipe)


@st.cache_resource(ttl=600.0, show_spinner=False)  # neighbours change a machine
def machine_speed() -> Speed:
    """Return how fast runs train here; BusyError if no turn came free."""
    with services().turns.take():
        measured = measure_speed(services().device)
    return Speed(DELAY * measured.layer, DELAY * measured.operation)


def most_seconds() -> float:
    """Return how long a run may take by `machine_speed`."""
    return services().settings.max_training_seconds * DELAY


def idle_fields(recipe: Recipe) -> set[str]:
    """Return the settings that change nothing in a run."""
    idle = TASKS[recipe.task].unused_fields
    idle |= {"warmup"} if recipe.schedule == "constant" else set()
    return idle | ({"temperature"} if recipe.distill == 0 else set())


def without_idle(recipe: Recipe) -> Recipe:
    """Return the recipe with idle settings at their defaults, so that equal runs are equal."""
    return replace(recipe, **{name: vars(Recipe())[name] for name in idle_fields(recipe)})


def seconds_of(runs: Sequence[VariantRun]) -> float:
    """Return how long these runs are likely to take here."""
    speed = machine_speed()
    return sum(speed.seconds(run.config, run.recipe) for run in runs)


def join_variants(runs: tuple[VariantRun, ...]) -> Experiment[VariantsState]:
    """Take part in these runs."""
    data = {seed: training_data(replace(runs[0].recipe, seed=seed)) for seed in seeds_of(runs)}
    return join_experiment(
        runs,
        request(VariantTraining, (runs,), data),
        n_bytes=max(training_bytes(run.config, run.recipe, *data.values()) for run in runs),
        key=runs,
    )


LEARNING = "english"
"""In place of a page: the training of the small English."""

_BASE_SECONDS = 60.0
"""That its base is trained for, on one core of a slow machine."""


def learning_seconds(spec: Spec) -> float:
    """Return about how long training it takes."""
    n_tokens, base = 24, Spec()
    work = count_flops(spec.config, n_tokens).total / count_flops(base.config, n_tokens).total
    return _BASE_SECONDS * max(work, spec.config.n_layers / base.config.n_layers)


def join_learning(spec: Spec) -> Experiment[Learning]:
    """Take part in the training of a network of the small English."""

    def keep(state: Learning, _status: JobStatus) -> None:
        if state.trained is not None:
            services().store.keep(spec.key, save(state.trained))

    return join_experiment(
        spec, request(Learner, (spec,)), keep, n_bytes=_TRAINING_BYTES * spec.n_parameters + _TEXT_BYTES, key=spec
    )


def training_bytes(config: ModelConfig, recipe: Recipe, *data: Data) -> int:
    """Return the memory of a run, its teacher and all data held as long."""
    networks = (config, teacher_config(config)) if recipe.distill > 0 else (config,)
    parts = (part for each in data for examples in (each.train, each.validation) for part in vars(examples).values())
    n_data: int = sum(part.nbytes for part in parts)
    return _TRAINING_BYTES * sum(count_network(each, data[0].task, len(data[0].labels)) for each in networks) + n_data
