"""A visitor's experiments, which run in the background until the connection breaks; their data, time and memory."""

import secrets
from collections.abc import Callable, Hashable, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import Any, Generic

import streamlit as st

from playground.accounting import count_flops
from playground.config import ModelConfig
from playground.jobs import JobHandle, JobStatus, Request
from playground.jobs.computation import S
from playground.jobs.pool import OnEnd
from playground.language.learner import Learning, LearningRequest
from playground.language.network import Spec, save
from playground.training.cost import Speed, measure_speed
from playground.training.network import count_network
from playground.training.recipe import Recipe, teacher_config
from playground.training.tasks import TASKS, Data, make_data
from playground.training.tasks.task import DataRecipe
from playground.training.variants import VariantRun, VariantsRequest, VariantsState, seeds_of
from playground.web.session.services import MemoryReservation, services

EXPERIMENTS = "_experiments"
"""Session key of the `SessionExperiments`."""

DELAY = 2.0
"""How much slower than measured a run is, at its thread's low priority."""


class Experiment(Generic[S]):
    """A visitor's part in a job, which creating one joins, as `JobPool.join`.

    Args:
        inputs: everything that the computation depends on, to be compared with the page's settings later.
        request, on_end, key, keep: as of `JobPool.join`.
        n_bytes: memory that the run takes until its end; the job fails if the server has less.
    """

    def __init__(
        self,
        inputs: Any,
        request: Request[S],
        on_end: OnEnd[S] | None = None,
        *,
        n_bytes: int,
        key: Hashable,
        keep: bool = True,
    ) -> None:
        self.inputs = inputs
        memory, budget = MemoryReservation(n_bytes), services().memory
        on_start, on_over = partial(budget.reserve, memory), lambda _: budget.release(memory)
        self.job: JobHandle[S] = services().pool.join(
            key, request, on_end, keep=keep, on_start=on_start, on_over=on_over
        )

    @property
    def state(self) -> S | None:
        """The run's state; None until it begins."""
        return self.job.state

    @property
    def active(self) -> bool:
        """Whether it can still go on."""
        return self.job.status in ("waiting", "running")

    @property
    def in_progress(self) -> bool:
        """Whether it still changes, in its last step after a stop too."""
        return not self.job.ended


class SessionExperiments:
    """One session's experiments, by page; at most one of them is active."""

    def __init__(self) -> None:
        self.session = secrets.token_hex(8)
        """Tells a browser this session from an earlier one."""
        self._experiments: dict[str, Experiment[Any]] = {}

    def get(self, page: str) -> Experiment[Any] | None:
        """Return the page's latest experiment, whatever its status."""
        return self._experiments.get(page)

    def active_page(self) -> str | None:
        """Return the page whose experiment is active."""
        return next((page for page, experiment in self._experiments.items() if experiment.active), None)

    def start(self, page: str, create: Callable[[], Experiment[Any]]) -> None:
        """Replace the page's experiment by a new one, unless any is active."""
        if self.active_page() is None:
            self._experiments[page] = create()

    def discard(self, page: str) -> None:
        """Stop a page's experiment and forget it."""
        experiment = self._experiments.pop(page, None)
        if experiment is not None:
            experiment.job.discard()

    def disconnect(self) -> None:
        """Stop everything; the results so far stay."""
        for experiment in self._experiments.values():
            experiment.job.stop(timeout=0)


def session_experiments() -> SessionExperiments:
    """Return the session's experiments, which a broken connection stops."""
    experiments: SessionExperiments = _until_disconnect(st.session_state.setdefault(EXPERIMENTS, SessionExperiments()))
    return experiments


@st.cache_resource(scope="session", max_entries=1, on_release=SessionExperiments.disconnect, show_spinner=False)
def _until_disconnect(_experiments: SessionExperiments) -> SessionExperiments:
    return _experiments


_TEXT_BYTES = 16_000_000
"""The sentences that a network of the small English learns from."""

_TRAINING_BYTES = 6 * 4
"""Bytes for each parameter: weight, gradient, Adam's two averages, and two copies."""


def training_data(recipe: Recipe) -> Data:
    """Return the recipe's data; raises RecipeError if there can be none."""
    return _cached_data(Recipe(**{field.name: vars(recipe)[field.name] for field in fields(DataRecipe)}))


def validation_data(recipe: Recipe) -> Data:
    """Return the recipe's data with one training sequence only: a file may claim any number of them."""
    return training_data(replace(recipe, n_train=1))


@st.cache_resource(max_entries=4, show_spinner=False)
def _cached_data(recipe: Recipe) -> Data:
    return make_data(recipe)


@st.cache_resource(ttl=600.0, show_spinner=False)  # others may have kept the machine busy
def machine_speed() -> Speed:
    """Measure how fast runs train here beside pages; raises BusyError if no turn came free."""
    with services().turns.take():
        return measure_speed(services().device).slowed(DELAY)


def most_seconds() -> float:
    """Return the longest estimate of a run that may start."""
    return services().settings.max_training_seconds * DELAY


def without_idle(recipe: Recipe) -> Recipe:
    """Return the recipe with settings that change nothing in its run at their defaults."""
    idle = {"warmup": recipe.schedule == "constant", "temperature": recipe.distill == 0}
    names = (*TASKS[recipe.task].unused_fields, *(name for name, is_idle in idle.items() if is_idle))
    return replace(recipe, **{name: getattr(Recipe(), name) for name in names})


def seconds_of(runs: Sequence[VariantRun]) -> float:
    """Estimate how long these runs take here together; raises as `machine_speed`."""
    speed = machine_speed()
    return sum(speed.seconds(run.config, run.recipe) for run in runs)


def join_variants(runs: tuple[VariantRun, ...]) -> Experiment[VariantsState]:
    """Take part in these runs."""
    data = {seed: training_data(replace(runs[0].recipe, seed=seed)) for seed in seeds_of(runs)}
    return Experiment(
        runs,
        VariantsRequest(runs, device=str(services().device), threads=services().settings.threads, data=data),
        n_bytes=max(training_bytes(run.config, run.recipe, data[run.recipe.seed]) for run in runs),
        key=runs,
    )


LEARNING = "english"
"""Key, in place of a page, of a session's training of the small English."""

_BASE_SECONDS = 60.0
"""Training of the small English's base on one core of a slow machine."""


def learning_seconds(spec: Spec) -> float:
    """Estimate the training of a network of the small English; a narrow layer takes as long as the base's."""
    n_tokens, base = 24, Spec()
    work = count_flops(spec.config, n_tokens).total / count_flops(base.config, n_tokens).total
    return _BASE_SECONDS * max(work, spec.config.n_layers / base.config.n_layers)


def join_learning(spec: Spec) -> Experiment[Learning]:
    """Take part in the training of a network of the small English, which is kept for everybody."""

    def keep(state: Learning, _status: JobStatus) -> None:
        if state.trained is not None:
            services().store.keep(spec.key, save(state.trained))

    return Experiment(
        spec,
        LearningRequest(spec=spec, device=str(services().device), threads=services().settings.threads),
        keep,
        n_bytes=_TRAINING_BYTES * spec.n_parameters + _TEXT_BYTES,
        key=spec,
    )


def training_bytes(config: ModelConfig, recipe: Recipe, data: Data) -> int:
    """Return the bytes that a run's network takes, and its teacher."""
    networks = (config, teacher_config(config)) if recipe.distill > 0 else (config,)
    return _TRAINING_BYTES * sum(count_network(each, data.task, len(data.labels)) for each in networks)
