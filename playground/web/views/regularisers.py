"""What only the live page Regularisers has: the ablation that its settings describe, and how that is followed."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import streamlit as st

from playground.accounting.readable import duration
from playground.charts.chart import Paragraph
from playground.charts.scene import Scene
from playground.errors import PlaygroundError, TooLargeError
from playground.link import query
from playground.link.params import ABLATION, COMPARED, FIELDS, TASK_TITLES
from playground.text.wording import count_heads, join_words, lower_first
from playground.training.ablation import (
    AblationState,
    AblationTraining,
    seeds_of,
    trainings_of_one_seed,
)
from playground.training.kept_run import list_changed_settings
from playground.training.recipe import architecture
from playground.training.regularisers import (
    REGULARISERS,
    SIZES,
    ablation_recipe,
    ablation_trainings,
    reason_without_effect,
)
from playground.training.tasks import TASKS
from playground.views.ablation_curves import WatchedAblation
from playground.views.regularisers import (
    BEFORE_ANY,
    MISSING_MASKS,
    READY,
    ReadyExperiment,
    show_answer,
    show_catalogue,
    show_curves,
    show_details,
    show_ready_experiments,
)
from playground.web.choices import widgets
from playground.web.choices.setup import current_setup, current_value
from playground.web.components.charts import draw_legend
from playground.web.components.without_picture import request_scroll
from playground.web.session.experiments import (
    Experiment,
    ablation_seconds,
    join_ablation,
    machine_speed,
    most_seconds,
    session_experiments,
    training_data,
    without_idle,
)
from playground.web.shared import experiment_buttons, panels
from playground.web.shared.page_end import as_one_element
from playground.web.shared.renderer import WIDGETS, read_options, render

PAGE = "regularisers"

SEEDS_HELP = (
    "A seed decides the sequences, the initial weights, the order of batches and all that regularisers draw. With 3, "
    "everything runs with the sidebar's seed and the next two: it takes three times as long and shows what chance does."
)


@dataclass(frozen=True)
class AblationPlan:
    """An ablation that can be started."""

    trainings: tuple[AblationTraining, ...]
    """For each seed the baseline and one for each regulariser; the baseline alone if nothing that matters is chosen."""
    left_out: dict[str, str]
    """Why regularisers that are chosen can change nothing here, by field."""
    seconds: float
    """How long all of it is likely to take here."""


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
    recipe = replace(recipe, **{name: current_value(f"{PAGE}_{name}") for name in ("optimizer", "lr")})
    config = query.model_config({**current_setup().state.asked, **SIZES}, vocab_size=1)
    chosen = {FIELDS[title] for title in chosen_titles}
    reasons = {field: reason_without_effect(each, recipe, config.norm) for field, each in REGULARISERS.items()}
    config = replace(architecture(config, recipe, training_data(recipe)), dropout=0.0)  # the recipes' four count
    compared = ablation_trainings(config, recipe, [field for field in chosen if not reasons[field]], int(seeds))
    trainings = tuple(replace(training, recipe=without_idle(training.recipe)) for training in compared)
    seconds = ablation_seconds(trainings)
    longest = most_seconds()
    if seconds > longest:
        raise TooLargeError(
            f"These {len(trainings)} runs would take about {duration(seconds)} here, and this server trains for at "
            f"most {duration(longest)}: choose fewer{' or one seed' if int(seeds) > 1 else ''}. Knowledge distillation "
            "takes longest, as its teacher learns too."
        )
    left_out = {field: reason for field, reason in reasons.items() if reason and field in chosen}
    return AblationPlan(trainings, left_out, seconds)


@as_one_element
def draw_own_comparison() -> AblationPlan | None:
    """Draw the settings of a comparison, its button and its cost, folded; returns what can be started, if anything."""
    names = [key for key in ABLATION if key != f"{PAGE}_measure"]
    with panels.fold_settings(f"{PAGE}_own_open", "A comparison of your own", names):
        _choose_comparison()
        plan = experiment_buttons.plan_or_error(make_plan)
        if plan is not None:
            for field, reason in plan.left_out.items():
                st.caption(f"**{REGULARISERS[field].choice}** is left out: {reason}.")
            if len(trainings_of_one_seed(plan.trainings)) == 1:
                st.info("Choose at least one that can matter here; then its run is compared with a run without any.")
                plan = None
        start = "Start" if plan is None else f"Start {len(plan.trainings)} runs"
        experiment_buttons.start_button(
            PAGE, plan, lambda plan: join_ablation(PAGE, plan.trainings), start=start, scrolls_to="answer"
        )
        if plan is not None:
            st.caption(describe_cost(plan))
    return plan


def _choose_comparison() -> None:
    """Draw the widgets of the task and of what is compared."""
    columns = st.columns(3, gap="medium")
    with columns[0]:
        widgets.menu(f"{PAGE}_task", "What is to be learnt")
    with columns[1]:
        widgets.choice(f"{PAGE}_data", "Data to learn from")
    with columns[2]:
        widgets.choice(f"{PAGE}_seeds", "Seeds", help_text=SEEDS_HELP)
    widgets.several(
        f"{PAGE}_chosen", "What to compare with the plain run, which has masks and norms, and none of the others"
    )
    columns = st.columns(3, gap="medium")
    with columns[0]:
        widgets.choice(f"{PAGE}_optimizer")
    with columns[1]:
        widgets.size(f"{PAGE}_lr", "largest learning rate · `lr`")


def draw_answer(plan: AblationPlan | None) -> None:
    """Draw what the session's ablation has shown by now, and before there is one what there is to do.

    `plan` is what the page's settings describe, None where they describe nothing to start.
    """

    def follow_answer(experiment: Experiment[AblationState]) -> None:
        differences = [] if plan is None else list_differences(experiment.inputs, plan.trainings)
        scene = make_scene(experiment.inputs, experiment.state)
        untrained = experiment_buttons.untrained_sentence(differences, is_active=experiment.active)
        render(show_answer(scene, untrained), scene)

    if session_experiments().get(PAGE) is None:
        render([Paragraph(BEFORE_ANY, "answer")])
    experiment_buttons.follow(follow_answer, PAGE, every=2.0)


def draw_ready_experiments() -> None:
    """Draw the cards of the ready experiments."""
    if session_experiments().get(PAGE) is not None:
        st.header("Another experiment")
    render(show_ready_experiments())


def draw_start(ready: ReadyExperiment, label: str, *, is_first_choice: bool = False) -> None:
    """Draw the button that starts a ready experiment, and how long that takes."""
    if is_first_choice and session_experiments().get(PAGE) is None:
        with suppress(PlaygroundError):  # the machine's speed is not known yet
            st.caption(f"About **{duration(_expect_seconds(ready.settings))}** here.")
    st.button(
        label,
        key=f"{PAGE}_ready_{ready.name}",
        icon=":material/play_arrow:",
        type="primary" if is_first_choice else "secondary",
        disabled=session_experiments().active_page() is not None,
        on_click=_start_ready,
        args=(ready.settings,),
    )


def _expect_seconds(settings: Mapping[str, Any]) -> float:
    """How long both runs of a ready experiment are likely to take, without the data that they would learn from."""
    task, data, optimizer, lr = (settings[f"{PAGE}_{name}"] for name in ("task", "data", "optimizer", "lr"))
    recipe = replace(ablation_recipe(TASK_TITLES[task], data, current_value("seed"), {}), optimizer=optimizer, lr=lr)
    config = query.model_config({**current_setup().values, **SIZES}, vocab_size=1)
    return 2 * machine_speed().seconds(config, recipe)


def _start_ready(settings: Mapping[str, Any]) -> None:
    st.session_state.update(settings)
    with suppress(PlaygroundError):  # the page draws the same plan, and says what is wrong with it
        session_experiments().start(PAGE, partial(join_ablation, PAGE, make_plan().trainings))
        request_scroll("answer")


def describe_cost(plan: AblationPlan) -> str:
    """How long a plan takes, and what is trained."""
    first, seeds = plan.trainings[0], _name_seeds(plan.trainings)
    recipe, config = first.recipe, first.config
    amount, of_one_seed = f"{len(plan.trainings)} runs of {recipe.steps} steps", trainings_of_one_seed(plan.trainings)
    if len(plan.trainings) > len(of_one_seed):
        amount, seeds = f"{amount}, {len(of_one_seed)} with each of the {seeds}", "those of one seed"
    task = lower_first(TASKS[recipe.task].question)
    return (
        f"About **{duration(plan.seconds)}** here: {amount}, each on the same {len(training_data(recipe).train):,} "
        f"sequences, in the same order, from the same initial weights ({seeds}). The task: {task} "
        f"{count_heads(config.n_layers, config.n_heads)}, d_model {config.d_model}; all else of the architecture is "
        "the sidebar's."
    )


def _name_seeds(trainings: tuple[AblationTraining, ...]) -> str:
    seeds = [str(seed) for seed in seeds_of(trainings)]
    return f"seed{'s' if len(seeds) > 1 else ''} {join_words(seeds)}"


def draw_ablation(plan: AblationPlan | None) -> None:
    """Draw the session's ablation, if there is one; `plan` is what the page's settings describe."""
    experiment_buttons.explain_state(PAGE)
    experiment = session_experiments().get(PAGE)
    if experiment is None:
        return
    for ready in (*READY, *MISSING_MASKS):
        is_set = all(current_value(key) == value for key, value in ready.settings.items())
        if is_set and plan is not None and not list_differences(experiment.inputs, plan.trainings):
            st.markdown(f"**{ready.title}.** {ready.expectation}")
    experiment_buttons.control_buttons(PAGE)
    experiment_buttons.follow(follow_ablation, PAGE)
    # Here and not beside the curves: a whole rerun of the page ends by putting right what the address says.
    widgets.choice(f"{PAGE}_measure", "Curves of")
    details = st.expander(
        "All that was measured, in words and numbers",
        icon=":material/table:",
        key=f"{PAGE}_details_open",
        on_change="rerun",
    )
    if details.open:
        with details:
            experiment_buttons.follow(follow_details, PAGE)


def follow_ablation(experiment: Experiment[AblationState]) -> None:
    """Draw how far an ablation is, and its curves by now."""
    experiment_buttons.show_progress(experiment, experiment.progress, experiment_buttons.ablation_status(experiment))
    scene = make_scene(experiment.inputs, experiment.state, grows=experiment.in_progress)
    render(show_curves(scene, read_options(PAGE)), scene)


def follow_details(experiment: Experiment[AblationState]) -> None:
    """Draw what an ablation shows by now in words and numbers."""
    scene = make_scene(experiment.inputs, experiment.state, grows=experiment.in_progress)
    render(show_details(scene, read_options(PAGE)), scene)


def make_scene(
    trainings: tuple[AblationTraining, ...], state: AblationState | None, *, grows: bool = False
) -> Scene[WatchedAblation]:
    """An ablation of these trainings, which may not have begun."""
    shown = state or AblationState.planned(trainings)
    return Scene(WatchedAblation(shown, training_data(trainings[0].recipe), grows))


def list_differences(before: Sequence[AblationTraining], now: Sequence[AblationTraining]) -> list[str]:
    """The trainings that only one of two ablations has, and the settings in which their common trainings differ."""
    old, new = (
        {training.title: (training.config, training.recipe) for training in trainings_of_one_seed(trainings)}
        for trainings in (before, now)
    )
    differences = [f"“{title}” is gone" for title in old if title not in new]
    differences += [f"“{title}” is new" for title in new if title not in old]
    for title in (title for title in old if title in new):
        differences += list_changed_settings(old[title], new[title])
    n_before, n_now = len(seeds_of(before)), len(seeds_of(now))
    differences += [f"seeds {n_before} → {n_now}"] if n_before != n_now else []
    return list(dict.fromkeys(differences))


def draw_catalogue() -> None:
    """Draw the ten cards, folded so that the way to a run stays short."""
    experiment = session_experiments().get(PAGE)
    state = None if experiment is None else experiment.state
    results = () if state is None else state.results
    title = f"Ten regularisers in {len(REGULARISERS)} switches: what each does, and how strong it is"
    with st.expander(title, icon=":material/tune:", key=f"{PAGE}_cards"):
        render(show_catalogue(read_options(PAGE), current_setup().state.asked["norm"], results))


WIDGETS |= {"legend": draw_legend, "start_ready": draw_start}
