"""A small transformer learns a task in the background, and every step of it can be watched."""

import streamlit as st

from playground.training.network import Tagger
from playground.training.trainer import Trainer, clip_gradient, cross_entropy, learning_rate
from playground.web.shared import experiment_buttons, panels
from playground.web.views.training import settings_panel, training_run
from playground.web.views.training.after_training import after_training
from playground.web.views.training.attention_over_time import attention_over_time
from playground.web.views.training.progress import progress
from playground.web.views.training.training_run import PAGE

panels.heading("How does a transformer learn?")
run, settings = st.columns([5, 3], gap="medium")
with run:
    training_run.show_training_again()
    settings_panel.pick_task()
    plan = settings_panel.plan_or_error()
    settings_panel.start_row(plan)
    progress(plan)
with settings:
    settings_panel.settings(plan)
experiment_buttons.follow(attention_over_time, PAGE, every=2.5)
after_training()
panels.code_behind("training", Trainer, Tagger, cross_entropy, learning_rate, clip_gradient)
