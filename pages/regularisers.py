"""Ten regularisers, each with its strength, and what each changes: one task, many runs, measured side by side."""

import streamlit as st

from playground.training.ablation import Ablation, arms
from playground.training.augment import augment
from playground.training.in_use import measure_in_use
from playground.training.losses import cross_entropy, distillation
from playground.training.optimisation import clip_gradient
from playground.web import ablation_views, panels, regulariser_views

panels.heading("What does each ingredient of training change?")
st.markdown(
    "A network with few examples learns them by heart: it gets all of them right, and much of everything else wrong. "
    "Regularisers are to help against that. Choose some, and train: one run with nothing, one with each alone, and one "
    "with all that can be added."
)
plan = ablation_views.pick()
ablation_views.start_row(plan)
ablation_views.draw(plan)
st.subheader("The ten, one by one")
regulariser_views.catalogue()
panels.code_behind("regularisers", arms, Ablation, measure_in_use, augment, cross_entropy, distillation, clip_gradient)
