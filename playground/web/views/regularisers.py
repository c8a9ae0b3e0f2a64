"""The live page Regularisers: a comparison is planned, started and followed."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from playground.accounting.readable import duration
from playground.charts.chart import Panel, Paragraph
from playground.charts.scene import Scene
from playground.link import params
from playground.link.params import ABLATION, COMPARED, FIELDS, TASK_TITLES
from playground.training import variants
from playground.training.recipe import architecture
from playground.training.trainer import check_seconds
from playground.training.variants import REGULARISERS, SIZES, VariantRun, VariantsState, regulariser_runs
from playground.views import regularisers as view
from playground.web.choices import widgets
from playground.web.choices.setup import current_setup, current_value
from playground.web.components import draw_legend
from playground.web.session import experiments, own_models
from playground.web.session.experiments import Experiment
from playground.web.shared import experiment_buttons, panels
from playground.web.shared.renderer import Live, read_options, render
from playground.words import say

PAGE = "regularisers"


def draw_regularisers() -> None:
    """Draw the whole page."""
    panels.draw_heading("What does each ingredient of training change?")
    answer = st.container()  # drawn once the settings are known, from which the runs may differ by now
    plan = draw_settings()
    with answer:
        draw_answer(plan)
    if own_models.session_experiments().get(PAGE) is not None:
        experiment_buttons.follow(follow_curves, PAGE)
        # Here and not beside the curves: a whole rerun of the page ends by putting right what the address says.
        widgets.choice(f"{PAGE}_measure", "Curves of")
    render(view.show_ready())


def draw_settings() -> Sequence[VariantRun] | None:
    """Draw the choices, the buttons and the cost; return the plan, or None with an error on the page."""
    task, amount, seeds = st.columns(3, gap="medium")
    with task:
        widgets.menu(f"{PAGE}_task", "Task")
    with amount:
        widgets.menu(f"{PAGE}_data", "Data to learn from")
    with seeds:
        widgets.menu(f"{PAGE}_seeds", "Seeds", help_text="With 3, everything runs with this seed and the next two.")
    widgets.several(f"{PAGE}_chosen", "Compare with the plain run")
    draw_strengths()
    plan = experiment_buttons.plan_or_error(make_plan)
    start = "Start" if plan is None else f"Start {len(plan)} runs"
    experiment_buttons.draw_buttons(PAGE, plan, experiments.join_variants, start=start)
    if plan is not None:
        time, n_train = duration(experiments.seconds_of(plan)), len(experiments.training_data(plan[0].recipe).train)
        idle = {FIELDS[title]: title for title in current_value(f"{PAGE}_chosen")}.items()
        idle_titles = ", ".join(title for field, title in idle if field not in {run.name for run in plan})
        left_out = f" It can change nothing here: {idle_titles}." if idle_titles else ""
        st.caption(
            f"About **{time}** here: {plan[0].recipe.steps} steps each, on the same {n_train:,} sequences.{left_out}"
        )
    return plan


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


def make_plan() -> tuple[VariantRun, ...]:
    """Return the comparison that the page and the sidebar describe; PlaygroundError if it can't be."""
    own = {name.removeprefix(f"{PAGE}_"): value for name, value in read_options(PAGE).items()}
    strengths = {field: own[field] for field in COMPARED}
    recipe = variants.comparison_recipe(TASK_TITLES[own["task"]], own["data"], current_value("seed"), strengths)
    recipe = replace(recipe, optimizer=own["optimizer"], lr=own["lr"])
    config = params.model_config({**current_setup().state.asked, **SIZES}, vocab_size=1)
    chosen = [FIELDS[title] for title in own["chosen"]]
    chosen = [field for field in chosen if REGULARISERS[field].has_effect(recipe, config.norm)]
    config = architecture(config, recipe, experiments.training_data(recipe))
    config = replace(config, dropout=0.0)  # the recipe's dropouts count
    runs = regulariser_runs(config, recipe, chosen, int(own["seeds"]))
    runs = tuple(replace(run, recipe=experiments.without_idle(run.recipe)) for run in runs)
    check_seconds(experiments.seconds_of(runs), experiments.most_seconds())
    return runs


def draw_answer(plan: Sequence[VariantRun] | None) -> None:
    """Draw what the runs have shown by now, or what there is to do."""

    def follow_answer(experiment: Experiment[VariantsState]) -> None:
        scene = Scene(state_of(experiment))
        render(view.show_answer(scene, experiment_buttons.untrained_sentence(experiment.inputs, plan)), scene)

    if own_models.session_experiments().get(PAGE) is None:
        render([Paragraph(say("regularisers", "answer-none"), "answer")])
    experiment_buttons.follow(follow_answer, PAGE, every=2.0)


def follow_curves(experiment: Experiment[VariantsState]) -> None:
    """Draw how far the runs are, their curves, and what they measure by now."""
    experiment_buttons.show_progress(experiment, experiment_buttons.variants_status(experiment))
    scene, live = Scene(state_of(experiment)), Live(widgets={"legend": draw_legend})
    curves = view.show_curves(scene, read_options(PAGE))
    render([*curves, Panel("", "All effects", tuple(view.show_details()), ":material/table:")], scene, live)


def state_of(experiment: Experiment[VariantsState]) -> VariantsState:
    """Return what is to be seen of an experiment's runs."""
    runs: tuple[VariantRun, ...] = experiment.inputs
    return experiment.state or VariantsState(runs, experiments.training_data(runs[0].recipe))
