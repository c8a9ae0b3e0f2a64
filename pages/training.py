"""A small transformer learns a task in the background, and every step of it can be watched."""

import streamlit as st

from playground.training.network import Tagger
from playground.training.trainer import Trainer, clip_gradient, cross_entropy, learning_rate
from playground.web.shared import panels
from playground.web.views import training, training_settings

panels.draw_heading("How does a transformer learn?")
training.show_training_again()
answer = st.container()  # drawn once the settings are known, to which it may not belong any more
run, settings = st.columns([5, 3], gap="medium")
with run:
    training_settings.pick_task()
    plan = training_settings.plan_or_error()
    with answer:
        training.draw_answer(plan)
    training_settings.show_question(plan)
    training_settings.start_row(plan)
    offer = st.container()
    training.show_run()
    answers = st.container()
with settings:
    training_settings.draw_settings(plan)
training.after_training(offer, answers)
panels.code_behind("training", Trainer, Tagger, cross_entropy, learning_rate, clip_gradient)
