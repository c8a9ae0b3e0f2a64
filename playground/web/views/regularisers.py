"""What only the live page Regularisers has: the comparison that its settings describe, and how that is followed."""

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
from playground.training.kept_run import list_changed_settings
from playground.training.recipe import architecture
from playground.training.regularisers import (
    REGULARISERS,
    SIZES,
    comparison_recipe,
    reason_without_effect,
    regulariser_runs,
)
from playground.training.variants import VariantRun, VariantsState, first_seed, seeds_of
from playground.views.regularisers import (
    READY,
    ReadyComparison,
    explain_ten,
    show_answer,
    show_curves,
    show_details,
    show_ready,
)
from playground.views.variant_curves import WatchedVariants
from playground.web.choices import widgets
from playground.web.choices.setup import current_setup, current_value
from playground.web.components.drawings import draw_legend
from playground.web.session.experiments import (
    Experiment,
    join_variants,
    most_seconds,
    seconds_of,
    session_experiments,
    training_data,
    without_idle,
)
from playground.web.shared import experiment_buttons, panels
from playground.web.shared.renderer import WIDGETS, read_options, render
from playground.words import say

PAGE = "regularisers"

BUTTONS = f"{PAGE}_buttons"
"""Key of the row of buttons, below which runs can be watched."""

SEEDS_HELP = (
    "A seed decides the sequences, the initial weights, the order of batches and all that regularisers draw. With 3, "
    "everything runs with the sidebar's seed and the next two."
)


@dataclass(frozen=True)
class Comparison:
    """Runs that can be started."""

    runs: tuple[VariantRun, ...]
    """For each seed the plain run and one for each regulariser that can matter."""
    left_out: Mapping[str, str]
    """Why regularisers that are chosen can change nothing here, by field."""
    seconds: float
    """How long all of it is likely to take here."""


def make_plan() -> Comparison:
    """Return the comparison that the page's settings and the sidebar's architecture describe.

    Raises:
        ConfigError, RecipeError: the settings do not go together.
        TooLargeError: the runs would take more than this server gives.
        BusyError: the machine's speed is not known yet, and no turn to measure it came free.
    """
    task, data, seeds, chosen = (current_value(f"{PAGE}_{name}") for name in ("task", "data", "seeds", "chosen"))
    strengths = {field: current_value(f"{PAGE}_{field}") for field in COMPARED}
    recipe = comparison_recipe(TASK_TITLES[task], data, current_value("seed"), strengths)
    recipe = replace(recipe, **{name: current_value(f"{PAGE}_{name}") for name in ("optimizer", "lr")})
    config = query.model_config({**current_setup().state.asked, **SIZES}, vocab_size=1)
    fields = [FIELDS[title] for title in chosen]
    reasons = {field: reason_without_effect(REGULARISERS[field], recipe, config.norm) for field in fields}
    config = replace(architecture(config, recipe, training_data(recipe)), dropout=0.0)  # the recipe's dropouts count
    runs = regulariser_runs(config, recipe, [field for field in fields if not reasons[field]], int(seeds))
    runs = tuple(replace(run, recipe=without_idle(run.recipe)) for run in runs)
    seconds = seconds_of(runs)
    if seconds > most_seconds():
        raise TooLargeError(
            f"These {len(runs)} runs would take about {duration(seconds)} here, and this server trains for at most "
            f"{duration(most_seconds())}: choose fewer, or one seed."
        )
    return Comparison(runs, {field: reason for field, reason in reasons.items() if reason}, seconds)


def draw_settings() -> Comparison | None:
    """Draw the settings of a comparison and its buttons; return what can be started, if anything."""
    columns = st.columns(3, gap="medium")
    with columns[0]:
        widgets.menu(f"{PAGE}_task", "Task")
    with columns[1]:
        widgets.choice(f"{PAGE}_data", "Data to learn from")
    with columns[2]:
        widgets.choice(f"{PAGE}_seeds", "Seeds", help_text=SEEDS_HELP)
    widgets.several(f"{PAGE}_chosen", "Compare with the plain run")
    _draw_strengths()
    plan = experiment_buttons.plan_or_error(make_plan)
    start = "Start" if plan is None else f"Start {len(plan.runs)} runs"
    experiment_buttons.draw_buttons(PAGE, plan, lambda plan: join_variants(plan.runs), start=start, scrolls_to=BUTTONS)
    if plan is not None:
        left_out = (f"{REGULARISERS[field].choice} is left out: {reason}." for field, reason in plan.left_out.items())
        steps, n_train = plan.runs[0].recipe.steps, len(training_data(plan.runs[0].recipe).train)
        cost = f"About **{duration(plan.seconds)}** here: {steps} steps each, on the same {n_train:,} sequences."
        st.caption(" ".join((cost, *left_out)))
    return plan


def _draw_strengths() -> None:
    """Draw the optimiser, and the strengths of what is chosen: if that is open, or set, as widgets keep settings."""
    names = [f"{PAGE}_{name}" for name in ("optimizer", "lr", *COMPARED)]
    changed = [name for name in names if current_value(name) != ABLATION[name].default]
    chosen = [FIELDS[title] for title in current_value(f"{PAGE}_chosen")]
    with panels.fold_settings(f"{PAGE}_own_open", "Strengths and optimiser", names) as fold:
        if fold.open or changed:
            widgets.choice(f"{PAGE}_optimizer")
            widgets.size(f"{PAGE}_lr", "largest learning rate · `lr`")
            for field in COMPARED:
                if field in chosen or f"{PAGE}_{field}" in changed:
                    widgets.draw(f"{PAGE}_{field}", f"{REGULARISERS[field].title}: {REGULARISERS[field].scale}")


def draw_answer(plan: Comparison | None) -> None:
    """Draw what the session's runs have shown by now, and before there are any what there is to do."""

    def follow_answer(experiment: Experiment[VariantsState]) -> None:
        differences = [] if plan is None else list_differences(experiment.inputs, plan.runs)
        scene = make_scene(experiment)
        render(show_answer(scene, experiment_buttons.untrained_sentence(differences)), scene)

    if session_experiments().get(PAGE) is None:
        render([Paragraph(say("regularisers", "answer-none"), "answer")])
    experiment_buttons.follow(follow_answer, PAGE, every=2.0)


def draw_ready() -> None:
    """Draw the cards of the ready comparisons."""
    render(show_ready())


def draw_start(ready: ReadyComparison) -> None:
    """Draw the button that starts a ready comparison."""
    st.button(
        "Start both runs",
        key=f"{PAGE}_ready_{ready.name}",
        icon=":material/play_arrow:",
        disabled=session_experiments().active_page() is not None,
        on_click=_start_ready,
        args=(ready.settings,),
    )


def _start_ready(settings: Mapping[str, Any]) -> None:
    st.session_state.update(settings)
    with suppress(PlaygroundError):  # the page draws the same plan, and says what is wrong with it
        experiment_buttons.start_experiment(PAGE, partial(join_variants, make_plan().runs), BUTTONS)


def draw_runs(plan: Comparison | None) -> None:
    """Draw the session's runs, if there are any; `plan` is what the page's settings describe."""
    experiment = session_experiments().get(PAGE)
    if experiment is None:
        return
    for ready in READY:
        is_set = all(current_value(key) == value for key, value in ready.settings.items())
        if is_set and plan is not None and not list_differences(experiment.inputs, plan.runs):
            st.markdown(say("regularisers", f"ready-{ready.name}"))
    experiment_buttons.follow(follow_curves, PAGE)
    # Here and not beside the curves: a whole rerun of the page ends by putting right what the address says.
    widgets.choice(f"{PAGE}_measure", "Curves of")
    details = st.expander("All numbers", icon=":material/table:", key=f"{PAGE}_details_open", on_change="rerun")
    if details.open:
        with details:
            experiment_buttons.follow(follow_details, PAGE)


def follow_curves(experiment: Experiment[VariantsState]) -> None:
    """Draw how far the runs are, and their curves by now."""
    status = experiment_buttons.variants_status(experiment)
    experiment_buttons.show_progress(experiment, experiment.job.progress, status)
    scene = make_scene(experiment)
    render(show_curves(scene, read_options(PAGE)), scene)


def follow_details(experiment: Experiment[VariantsState]) -> None:
    """Draw what the runs measure by now."""
    render(show_details(read_options(PAGE)), make_scene(experiment))


def make_scene(experiment: Experiment[VariantsState]) -> Scene[WatchedVariants]:
    """Return an experiment's runs, which may not have begun."""
    runs: tuple[VariantRun, ...] = experiment.inputs
    state = experiment.state or VariantsState(runs)
    return Scene(WatchedVariants(state, training_data(runs[0].recipe), experiment.in_progress))


def list_differences(before: Sequence[VariantRun], now: Sequence[VariantRun]) -> list[str]:
    """Return the variants that only one of two comparisons has, and the settings in which the others differ."""
    old, new = ({run.title: (run.config, run.recipe) for run in first_seed(runs)} for runs in (before, now))
    differences = [f"without “{title}”" for title in old if title not in new]
    differences += [f"with “{title}”" for title in new if title not in old]
    for title in (title for title in old if title in new):
        differences += list_changed_settings(old[title], new[title])
    n_before, n_now = len(seeds_of(before)), len(seeds_of(now))
    differences += [f"seeds {n_before} → {n_now}"] if n_before != n_now else []
    return list(dict.fromkeys(differences))


def draw_explanations() -> None:
    """Draw what each of the ten does, once that is opened."""
    panel = st.expander("What each of the ten does", icon=":material/tune:", key=f"{PAGE}_cards", on_change="rerun")
    if panel.open:
        panel.markdown(explain_ten())


WIDGETS |= {"legend": draw_legend, "start_ready": draw_start}
