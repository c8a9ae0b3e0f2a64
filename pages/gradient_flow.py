"""Gradient flow: two encoders, and their training."""

import streamlit as st

from playground.accounting.readable import duration
from playground.analysis import gradients
from playground.charts.scene import Scene
from playground.link import params
from playground.model.blocks import EncoderBlock
from playground.training.variants import VariantRun, VariantsState
from playground.views import gradient_flow as view
from playground.web.choices.setup import current_setup, current_value
from playground.web.session.experiments import Experiment, join_variants, seconds_of, training_data
from playground.web.shared import experiment_buttons, panels
from playground.web.shared.panels import fragment, keep_answer_place
from playground.web.shared.renderer import draw_view, render
from playground.words import say

PAGE = "gradient-flow"


@fragment
def explore_gradient_flow() -> None:
    """Draw the choices and the view."""
    keep_answer_place()
    draw_view(PAGE, view.show_gradient_flow, view.gradient_scene, ())


def plan_pair() -> tuple[VariantRun, ...]:
    """Return the pair's training; raises ConfigError, RecipeError."""
    recipe = view.pair_recipe(current_value("seed"))
    config = params.model_config({**current_setup().values, **view.SIZES}, vocab_size=1)
    names = dict.fromkeys(current_value(f"gradient_{which}") for which in ("first", "second"))
    pair = [gradients.BY_NAME[name] for name in names]
    return view.pair_trainings(config, pair, recipe, training_data(recipe))


def follow_pair(experiment: Experiment[VariantsState]) -> None:
    """Draw how far both are."""
    experiment_buttons.show_progress(experiment, experiment_buttons.variants_status(experiment))
    if experiment.state is not None:
        scene = Scene(experiment.state)
        render(view.show_pair(scene), scene)


panels.draw_heading("Does the gradient reach the first layer?")
panels.require_text(current_setup(), say("gradient_flow", "no-text"))
explore_gradient_flow()
st.markdown(say("gradient_flow", "train", layers=view.N_LAYERS, width=view.SIZES["d_model"]))
plan, start = experiment_buttons.plan_or_error(plan_pair), say("gradient_flow", "train.start")
# The choice is drawn in a fragment of its own, which may have run since: what counts is the one at the click.
experiment_buttons.draw_buttons(PAGE, plan, lambda _: join_variants(plan_pair()), start=start)
if plan is not None:
    st.caption(say("gradient_flow", "train.time", time=duration(seconds_of(plan))))
experiment_buttons.follow(follow_pair, PAGE)
panels.code_behind("gradient_flow", gradients.next_token_loss, gradients.backward, gradients.with_variant, EncoderBlock)
