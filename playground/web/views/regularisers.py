"""What only the live page Regularisers has: its comparison, and how that is followed."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

import streamlit as st

from playground.accounting.readable import duration
from playground.charts.chart import Paragraph
from playground.charts.scene import Scene
from playground.errors import PlaygroundError, TooLargeError
from playground.link import params
from playground.link.params import ABLATION, COMPARED, FIELDS, TASK_TITLES
from playground.training.recipe import architecture
from playground.training.trained_network import list_changed_settings
from playground.training.variants import (
    REGULARISERS,
    SIZES,
    VariantRun,
    VariantsState,
    comparison_recipe,
    first_seed,
    regulariser_runs,
    seeds_of,
)
from playground.views.regularisers import READY, show_answer, show_curves, show_details
from playground.views.training_curves import WatchedVariants
from playground.web.choices import widgets
from playground.web.choices.setup import current_setup, current_value
from playground.web.components.drawings import draw_legend
from playground.web.session import experiments
from playground.web.session.experiments import Experiment
from playground.web.shared import experiment_buttons, panels
from playground.web.shared.renderer import Live, read_options, render
from playground.words import say

PAGE = "regularisers"


def make_plan() -> tuple[VariantRun, ...]:
    """Return the comparison that the page and the sidebar describe; PlaygroundError if it can't be."""
    own = {name.removeprefix(f"{PAGE}_"): value for name, value in read_options(PAGE).items()}
    strengths = {field: own[field] for field in COMPARED}
    recipe = comparison_recipe(TASK_TITLES[own["task"]], own["data"], current_value("seed"), strengths)
    recipe = replace(recipe, optimizer=own["optimizer"], lr=own["lr"])
    config = params.model_config({**current_setup().state.asked, **SIZES}, vocab_size=1)
    chosen = [FIELDS[title] for title in own["chosen"]]
    chosen = [field for field in chosen if REGULARISERS[field].has_effect(recipe, config.norm)]
    config = architecture(config, recipe, experiments.training_data(recipe))
    config = replace(config, dropout=0.0)  # the recipe's dropouts count
    runs = regulariser_runs(config, recipe, chosen, int(own["seeds"]))
    runs = tuple(replace(run, recipe=experiments.without_idle(run.recipe)) for run in runs)
    seconds, most = experiments.seconds_of(runs), experiments.most_seconds()
    if seconds > most:
        raise TooLargeError(
            f"These {len(runs)} runs would take about {duration(seconds)} here, and this server trains for at most "
            f"{duration(most)}: choose fewer, or one seed."
        )
    return runs


def draw_strengths() -> None:
    """Draw the optimiser, and the strengths of what is chosen, if that is open or set."""
    names = [f"{PAGE}_{name}" for name in ("optimizer", "lr", *COMPARED)]
    changed = [name for name in names if current_value(name) != ABLATION[name].default]
    chosen = [FIELDS[title] for title in current_value(f"{PAGE}_chosen")]
    with panels.fold_settings(f"{PAGE}_own_open", "Strengths and optimiser", names) as fold:
        if fold.open or changed:
            widgets.choice(f"{PAGE}_optimizer")
            widgets.size(f"{PAGE}_lr", "largest learning rate · `lr`")
            for field in COMPARED:
                if field in chosen or f"{PAGE}_{field}" in changed:
                    label, help_text = f"{REGULARISERS[field].title} · `{field}`", say("regularisers", f"does-{field}")
                    widgets.draw(f"{PAGE}_{field}", label, help_text=help_text)


def draw_answer(plan: Sequence[VariantRun] | None) -> None:
    """Draw what the runs have shown by now, or what there is to do."""

    def follow_answer(experiment: Experiment[VariantsState]) -> None:
        differences = [] if plan is None else list_differences(experiment.inputs, plan)
        scene = make_scene(experiment)
        render(show_answer(scene, experiment_buttons.untrained_sentence(differences)), scene)

    if experiments.session_experiments().get(PAGE) is None:
        render([Paragraph(say("regularisers", "answer-none"), "answer")])
    experiment_buttons.follow(follow_answer, PAGE, every=2.0)


def draw_start(name: str) -> None:
    """Draw the button that starts a ready comparison."""
    st.button(
        "Start both runs",
        key=f"{PAGE}_ready_{name}",
        icon=":material/play_arrow:",
        disabled=experiments.session_experiments().active_page() is not None,
        on_click=_start_ready,
        args=(name,),
    )


def _start_ready(name: str) -> None:
    st.session_state.update(READY[name])
    with suppress(PlaygroundError):  # the page draws the same plan, and says what is wrong with it
        experiment_buttons.start_experiment(PAGE, partial(experiments.join_variants, make_plan()))


def follow_curves(experiment: Experiment[VariantsState]) -> None:
    """Draw how far the runs are, and their curves by now."""
    status = experiment_buttons.variants_status(experiment)
    experiment_buttons.show_progress(experiment, status)
    scene = make_scene(experiment)
    render(show_curves(scene, read_options(PAGE)), scene, LIVE)


def follow_details(experiment: Experiment[VariantsState]) -> None:
    """Draw what the runs measure by now."""
    render(show_details(read_options(PAGE)), make_scene(experiment))


def make_scene(experiment: Experiment[VariantsState]) -> Scene[WatchedVariants]:
    """Return an experiment's runs."""
    runs: tuple[VariantRun, ...] = experiment.inputs
    state = experiment.state or VariantsState(runs)
    return Scene(WatchedVariants(state, experiments.training_data(runs[0].recipe), not experiment.ended))


def list_differences(before: Sequence[VariantRun], now: Sequence[VariantRun]) -> list[str]:
    """Return the variants and settings in which two comparisons differ."""
    old, new = ({run.title: (run.config, run.recipe) for run in first_seed(runs)} for runs in (before, now))
    differences = [f"“{title}”" for title in (*old, *new) if not (title in old and title in new)]
    for title in old.keys() & new:
        differences += list_changed_settings(old[title], new[title])
    n_before, n_now = len(seeds_of(before)), len(seeds_of(now))
    differences += [f"seeds {n_before} → {n_now}"] if n_before != n_now else []
    return list(dict.fromkeys(differences))


LIVE = Live(widgets={"legend": draw_legend, "start_ready": draw_start})
