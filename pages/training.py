"""A small transformer learns a task in the background, and every step of it can be watched."""

import streamlit as st

from playground.training.losses import cross_entropy
from playground.training.network import Tagger
from playground.training.optimisation import clip_gradient, learning_rate
from playground.training.trainer import Trainer
from playground.web import lab, panels, training_after, training_attention, training_controls, training_views
from playground.web.training_plan import PAGE

panels.heading("How does a transformer learn?")
run, settings = st.columns([5, 3], gap="medium")
with run:
    training_controls.pick_task()
    plan = training_controls.plan()
    training_controls.start_row(plan)
    training_views.draw(plan)
with settings:
    training_controls.settings(plan)
lab.watch(training_attention.through_time, PAGE, every=2.5)
training_after.draw()
panels.code_behind("training", Trainer, Tagger, cross_entropy, learning_rate, clip_gradient)
