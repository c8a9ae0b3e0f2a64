"""The page's choices, and the training of its two encoders."""

from contextlib import suppress

import streamlit as st

from playground.accounting.readable import duration
from playground.analysis.gradient_variants import BY_NAME, Variant
from playground.charts.scene import Scene
from playground.errors import PlaygroundError
from playground.link import query
from playground.training.trained_network import list_changed_settings
from playground.training.variants import VariantRun, VariantsState
from playground.views.gradient_flow import gradient_scene, show_gradient_flow
from playground.views.gradient_training import N_LAYERS, SIZES, pair_recipe, pair_trainings, show_pair
from playground.views.training_curves import WatchedVariants
from playground.web.choices import widgets
from playground.web.choices.setup import current_setup, current_value
from playground.web.session.experiments import (
    Experiment,
    join_variants,
    seconds_of,
    session_experiments,
    training_data,
)
from playground.web.shared import experiment_buttons, panels
from playground.web.shared.focus_line import keep_answer_place
from playground.web.shared.page_end import fragment
from playground.web.shared.renderer import draw_view, render
from playground.words import say

PAGE = "gradient-flow"


def check_text() -> None:
    """What had to be cut from the text; ends the page if there is no sentence."""
    panels.require_text(current_setup(), say("gradient_flow", "no-text"))


@fragment
def explore_gradient_flow() -> None:
    """The answer, the page's choices, and all that they redraw; errors leave the choices."""
    keep_answer_place()
    with st.container(key="gradient_choices"):
        first, second, layers = st.columns(3, gap="medium")
    with first:
        widgets.menu("gradient_first", say("gradient_flow", "one"))
    with second:
        widgets.menu("gradient_second", say("gradient_flow", "other"))
    with layers:
        widgets.draw("gradient_layers", say("gradient_flow", "layers"))
    draw_view(PAGE, show_gradient_flow, gradient_scene, ())
    st.markdown(say("gradient_flow", "train", layers=N_LAYERS, width=SIZES["d_model"]))
    note_other_pair()


def chosen_pair() -> tuple[Variant, ...]:
    """The two encoders of the page, or one if both are the same."""
    return tuple(dict.fromkeys(BY_NAME[current_value(f"gradient_{which}")] for which in ("first", "second")))


def plan_pair() -> tuple[VariantRun, ...]:
    """The training of the chosen pair; raises ConfigError, RecipeError."""
    recipe = pair_recipe(current_value("seed"))
    config = query.model_config({**current_setup().values, **SIZES}, vocab_size=1)
    return pair_trainings(config, chosen_pair(), recipe, training_data(recipe))


def train_both() -> None:
    """Draw what trains the two chosen encoders, and what they have learnt by now."""
    plan = experiment_buttons.plan_or_error(plan_pair)
    # The choice is drawn in a fragment of its own, which may have run since: what counts is the one at the click.
    start = say("gradient_flow", "train.start")
    experiment_buttons.draw_buttons(PAGE, plan, lambda _: join_variants(plan_pair()), start=start)
    if plan is not None and session_experiments().get(PAGE) is None:
        st.caption(say("gradient_flow", "train.time", time=duration(seconds_of(plan))))
    experiment_buttons.follow(follow_pair, PAGE)


def note_other_pair() -> None:
    """Draw what has changed since the training on the page was started."""
    experiment = session_experiments().get(PAGE)
    if experiment is None:
        return
    with suppress(PlaygroundError):  # `train_both` says what is wrong with the present pair
        trained, now = experiment.inputs, plan_pair()
        if trained == now:
            return
        names = " and ".join(f"*{each.title}*" for each in now)
        differences = [say("gradient_flow", "train.other", names=names)]
        if [each.title for each in trained] == [each.title for each in now]:
            differences = list_changed_settings(*((each.config, each.recipe) for each in (trained[0], now[0])))
        st.info(experiment_buttons.untrained_sentence(differences))


def follow_pair(experiment: Experiment[VariantsState]) -> None:
    """Draw how far both are, and what they have learnt."""
    status = experiment_buttons.variants_status(experiment)
    experiment_buttons.show_progress(experiment, experiment.job.progress, status)
    state, data = experiment.state, training_data(experiment.inputs[0].recipe)
    if state is not None:
        scene = Scene(WatchedVariants(state, data, experiment.in_progress))
        render(show_pair(scene), scene)
