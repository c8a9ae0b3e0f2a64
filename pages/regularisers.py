"""Ten regularisers, each with its strength, and what each changes: one task, many runs, measured side by side."""

import streamlit as st

from playground.training.augment import augment
from playground.training.evaluation import evaluate_unbatched
from playground.training.regularisers.ablation import Ablation, ablation_trainings
from playground.training.regularisers.catalogue import REGULARISERS
from playground.training.trainer import clip_gradient, cross_entropy, distillation
from playground.web.shared import panels
from playground.web.views.regularisers import ablation_view, catalogue_view

panels.heading("What does each ingredient of training change?")
st.markdown(
    "A network with few examples learns them by heart: all of them right, much else wrong. Regularisers are to help. "
    "Choose some and train: one run with nothing, one with each alone, one with all."
)
plan = ablation_view.plan_or_error()
catalogue_view.set_up_notice()
ablation_view.start_row(plan)
ablation_view.ablation(plan)
st.header(f"Ten regularisers in {len(REGULARISERS)} switches, one by one")
catalogue_view.catalogue()
panels.code_behind(
    "regularisers",
    ablation_trainings,
    Ablation,
    evaluate_unbatched,
    augment,
    cross_entropy,
    distillation,
    clip_gradient,
)
