"""A small transformer learns a task in the background, and every step of it can be watched."""

import streamlit as st

from playground.training.network import Tagger
from playground.training.trainer import Trainer, clip_gradient, cross_entropy, learning_rate
from playground.web.session import own_models
from playground.web.session.own_models import session_experiments
from playground.web.shared import experiment_buttons, panels
from playground.web.views import training as live
from playground.words import say

panels.draw_heading("How does a transformer learn?")
answer = st.container()  # drawn once the settings are known, to which it may not belong any more
slot = own_models.session_models()
run, settings = st.columns([5, 3], gap="medium")
with run:
    plan = live.draw_task()
    with answer:
        live.draw_answer(plan)
    offer = st.container()
    experiment = session_experiments().get(live.PAGE)
    if experiment is not None:
        experiment_buttons.follow(live.follow_curves, live.PAGE)
    answers = st.container()
with settings:
    live.draw_settings(plan)
if slot.problem:
    st.warning(say("training", "not-kept", problem=slot.problem))
experiment_buttons.follow(live.follow_attention, live.PAGE, every=2.5)
in_progress = experiment is not None and not experiment.ended
if slot.trained is not None:
    with answers if in_progress else offer:  # below the curves while they are what there is to see
        live.offer_network(slot.trained)
        live.draw_others(slot.runs[:-1])
live.draw_upload()
if slot.trained is not None and not in_progress:
    with answers:  # last, as it may end the page
        live.draw_answers(slot.trained)
panels.code_behind("training", Trainer, Tagger, cross_entropy, learning_rate, clip_gradient)
