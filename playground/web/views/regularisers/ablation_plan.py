"""The ablation that the Regularisers page's settings describe: its trainings, their cost, its status in sentences."""

from dataclasses import dataclass, replace

from playground.accounting.readable import duration
from playground.config import ModelConfig
from playground.errors import TooLargeError
from playground.link import query
from playground.link.params import COMPARED, FIELDS, TASK_TITLES
from playground.training.recipe import architecture
from playground.training.regularisers.ablation import (
    SIZES,
    AblationRequest,
    AblationState,
    AblationTraining,
    ablation_recipe,
    ablation_trainings,
    seeds_of,
    trainings_of_one_seed,
)
from playground.training.regularisers.catalogue import REGULARISERS, Regulariser, reason_without_effect
from playground.web.choices import shortcuts
from playground.web.choices.setup import current_setup, current_value
from playground.web.session import caches
from playground.web.session.experiments import Experiment, machine_speed, training_bytes, training_data, without_idle
from playground.web.session.memory_budget import MemoryReservation
from playground.web.session.services import services
from playground.web.shared.experiment_buttons import cancelled_clause, continuing_sentence, pending_sentence

PAGE = "regularisers"

AblationInputs = tuple[ModelConfig, tuple[AblationTraining, ...]]
"""All that an ablation depends on."""


@dataclass(frozen=True)
class AblationPlan:
    """An ablation that can be started."""

    config: ModelConfig
    trainings: tuple[AblationTraining, ...]
    """For each seed the baseline and one for each regulariser; the baseline alone if nothing that matters is chosen."""
    left_out: tuple[tuple[Regulariser, str], ...]
    """Chosen regularisers that can change nothing here, with the reason."""
    seconds: float
    """How long all of it is likely to take here."""

    @property
    def compared(self) -> list[AblationTraining]:
        """What is compared: the trainings of one seed."""
        return trainings_of_one_seed(self.trainings)

    @property
    def inputs(self) -> AblationInputs:
        """All that its numbers depend on: the recipes' four dropouts count, the architecture's one does not."""
        return replace(self.config, dropout=0.0), self.trainings


def make_plan() -> AblationPlan:
    """The ablation that the page's settings and the sidebar's architecture describe.

    Raises:
        ConfigError, RecipeError: the settings do not go together.
        TooLargeError: the trainings would take more than this server gives.
        BusyError: the machine's speed is not known yet, and no turn to measure it came free.
    """
    task, data, seeds, chosen_titles = (current_value(f"{PAGE}_{name}") for name in ("task", "data", "seeds", "chosen"))
    strengths = {field: current_value(f"{PAGE}_{field}") for field in COMPARED}
    recipe = ablation_recipe(TASK_TITLES[task], data, current_value("seed"), strengths)
    config = query.model_config({**current_setup().values, "norm": shortcuts.unlocked_norm(), **SIZES}, vocab_size=1)
    chosen = {FIELDS[title] for title in chosen_titles}
    regularisers = [regulariser for field, regulariser in REGULARISERS.items() if field in chosen]
    reasons = {each.field: reason_without_effect(each, recipe, config.norm) for each in regularisers}
    compared = ablation_trainings(recipe, [field for field, reason in reasons.items() if not reason], int(seeds))
    trainings = tuple(replace(training, recipe=without_idle(training.recipe)) for training in compared)
    config = architecture(config, recipe, training_data(recipe))
    speed = machine_speed()
    seconds = sum(speed.seconds(config, training.recipe) for training in trainings)
    longest = services().settings.max_training_seconds
    if seconds > longest:
        raise TooLargeError(
            f"These {len(trainings)} runs would take about {duration(seconds)} here, and this server trains for at "
            f"most {duration(longest)}: choose fewer{' or one seed' if int(seeds) > 1 else ''}. Knowledge distillation "
            "takes longest, as its teacher learns too."
        )
    left_out = tuple((REGULARISERS[field], reason) for field, reason in reasons.items() if reason)
    return AblationPlan(config, trainings, left_out, seconds)


def create_experiment(plan: AblationPlan) -> Experiment[AblationState]:
    """Take part in the trainings; start them in the background if nobody has yet."""
    first = plan.trainings[0].recipe
    data = {seed: training_data(replace(first, seed=seed)) for seed in seeds_of(plan.trainings)}
    n_bytes = max(training_bytes(plan.config, training.recipe, *data.values()) for training in plan.trainings)
    return Experiment(
        plan.inputs,
        AblationRequest(
            plan.config, plan.trainings, device=str(caches.device()), threads=services().settings.threads, data=data
        ),
        reservation=MemoryReservation(n_bytes),
        key=(PAGE, plan.config, plan.trainings),
        seconds=plan.seconds,
    )


def status_sentence(experiment: Experiment[AblationState]) -> str:
    """The status of an ablation in one or two sentences."""
    status, ablation, pending = experiment.job.status, experiment.state, pending_sentence(experiment)
    if pending:
        return pending
    if ablation is None or status == "failed":
        return experiment.job.error
    if status == "finished":
        return f"All {len(ablation.trainings)} runs are done, in {duration(experiment.job.seconds)}."
    results, n_ended = ablation.results, ablation.n_ended
    if status == "cancelled":
        n = len(ablation.trainings)
        at = f": {n_ended} of {n} runs are done, and their numbers stay" if n_ended else f" in the first of {n} runs"
        return f"{cancelled_clause(experiment)}{at}."
    growing = sum(not result.outcome for result in results)
    if growing > 1:
        done = f"{n_ended} of {len(ablation.trainings)} runs are done, {growing} go side by side"
        return continuing_sentence(experiment, done)
    result = results[-1] if results else None
    step = len(result.history.loss) if result else 0
    at = f"run {max(len(results), 1)} of {len(ablation.trainings)}"
    if result is not None:
        seed = f", seed {result.training.recipe.seed}" if len(seeds_of(ablation.trainings)) > 1 else ""
        at += f": {result.training.title}{seed}, step {step} of {result.training.recipe.steps}"
        if result.training.recipe.distill and not step:
            at = f"run {len(results)} of {len(ablation.trainings)}, {result.training.title}: its teacher learns first"
    return continuing_sentence(experiment, at)
