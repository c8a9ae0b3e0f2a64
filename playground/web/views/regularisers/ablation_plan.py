"""What the Regularisers page's settings come to: the runs of an ablation, what they cost, and how they stand."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from playground.accounting.readable import duration
from playground.config import ModelConfig
from playground.errors import TooLargeError
from playground.training.architecture import architecture
from playground.training.recipe import Recipe
from playground.training.regularisers.ablation import Ablation, AblationRun, ablation_runs
from playground.training.regularisers.ablation_recipe import SIZES, ablation_recipe
from playground.training.regularisers.catalogue import REGULARISERS, Regulariser, reason_without_effect
from playground.web.choices import link, shortcuts
from playground.web.choices.experiment_params import COMPARED, FIELDS, TITLES
from playground.web.choices.setup import current_setup, current_value
from playground.web.server.settings import settings
from playground.web.session import caches, experiments, trained_slot
from playground.web.session.memory_budget import Room
from playground.web.views.training.plan import data, speed, without_idle

PAGE = "regularisers"

About = tuple[ModelConfig, tuple[AblationRun, ...]]
"""What an ablation depends on."""


@dataclass(frozen=True)
class Plan:
    """An ablation that can be started.

    Attributes:
        config: the architecture of all its runs.
        runs: the baseline and one for each regulariser; the baseline alone, if nothing that matters is chosen.
        left_out: what is chosen and can change nothing here, with the reason.
        seconds: how long all of it is likely to take here.
    """

    config: ModelConfig
    runs: tuple[AblationRun, ...]
    left_out: tuple[tuple[Regulariser, str], ...]
    seconds: float

    @property
    def about(self) -> About:
        """What its numbers depend on: the recipes' four dropouts count, the architecture's one does not."""
        return replace(self.config, dropout=0.0), self.runs


def value(name: str) -> Any:
    """One of the page's settings."""
    return current_value(f"{PAGE}_{name}")


def chosen() -> list[Regulariser]:
    """The regularisers that are to be compared, in their own order."""
    fields = {FIELDS[title] for title in value("chosen")}
    return [regulariser for field, regulariser in REGULARISERS.items() if field in fields]


def current_recipe() -> Recipe:
    """The task and its data, with every regulariser that has a strength at the page's."""
    strengths = {field: value(field) for field in COMPARED}
    return ablation_recipe(TITLES[value("task")], value("data"), current_value("seed"), strengths)


def make_plan() -> Plan:
    """The ablation that the page's settings and the sidebar's architecture describe.

    Raises:
        ConfigError, RecipeError: the settings do not go together.
        TooLargeError: the runs would take more than this server gives.
        BusyError: the machine's speed is not known yet, and no turn to measure it came free.
    """
    recipe, wanted = current_recipe(), chosen()
    config = link.model_config({**current_setup().values, "norm": shortcuts.unlocked_norm(), **SIZES}, vocab_size=1)
    reasons = {regulariser.field: reason_without_effect(regulariser, recipe, config.norm) for regulariser in wanted}
    runs = tuple(
        replace(run, recipe=without_idle(run.recipe))
        for run in ablation_runs(recipe, [field for field, reason in reasons.items() if not reason])
    )
    config = architecture(config, recipe, data(recipe))
    now = speed()
    seconds = sum(now.seconds(config, run.recipe) for run in runs)
    longest = settings().max_training_seconds
    if seconds > longest:
        raise TooLargeError(
            f"These {len(runs)} runs would take about {duration(seconds)} here, and this server trains for at most "
            f"{duration(longest)}: choose fewer. Knowledge distillation takes longest, as its teacher learns too."
        )
    left_out = tuple((REGULARISERS[field], reason) for field, reason in reasons.items() if reason)
    return Plan(config, runs, left_out, seconds)


def begin(plan: Plan) -> None:
    """Start the runs in the background, one after the other."""
    made = data(plan.runs[0].recipe)
    room = Room(max(trained_slot.bytes_of_run(plan.config, run.recipe, made) for run in plan.runs))
    build = partial(Ablation, plan.config, plan.runs, caches.device(), data=made)
    experiments.desk().start(PAGE, experiments.Experiment(plan.about, build, room=room))


def current() -> experiments.Experiment[Ablation] | None:
    """The session's ablation, whatever has become of it."""
    return experiments.desk().on(PAGE)


def says(run: experiments.Experiment[Ablation]) -> str:
    """Where an ablation stands, in one or two sentences."""
    status, ablation, standing = run.job.status, run.course, experiments.standing(run)
    if standing:
        return standing
    if ablation is None or status == "failed":
        return run.job.error
    if status == "finished":
        return f"All {len(ablation.runs)} runs are done, in {duration(run.job.seconds)}."
    results = ablation.results()
    n_ended = sum(result.unbatched is not None for result in results)
    if status == "cancelled":
        n = len(ablation.runs)
        at = f": {n_ended} of {n} runs are done, and their numbers stay" if n_ended else f" in the first of {n} runs"
        return f"{experiments.why_cancelled(run)}{at}."
    result = results[-1] if results else None
    step = len(result.history.loss) if result else 0
    at = f"run {max(len(results), 1)} of {len(ablation.runs)}"
    if result is not None:
        at += f": {result.run.title}, step {step} of {result.run.recipe.steps}"
        if result.run.recipe.distill and not step:
            at = f"run {len(results)} of {len(ablation.runs)}, {result.run.title}: its teacher learns first"
    if status == "paused":
        return f"Paused: {at}. Others may train meanwhile; to go on takes a free seat."
    left = run.job.seconds * (1 / ablation.progress - 1) if ablation.progress > 0.02 else None
    return f"Training: {at}{'' if left is None else f', about {duration(left)} to go'}."
