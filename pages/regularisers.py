"""Ten regularisers, each with its strength, and what each changes: one task, many runs, measured side by side."""

import streamlit as st

from playground.training.ablation import Ablation
from playground.training.augment import augment
from playground.training.network import evaluate_unbatched
from playground.training.regularisers import ablation_trainings
from playground.training.trainer import clip_gradient, cross_entropy, distillation
from playground.web.shared import panels
from playground.web.views import regularisers

panels.draw_heading("What does each ingredient of training change?")
ablation = st.container()  # drawn once the settings are known, from which it may differ by now
regularisers.draw_ready_experiments()
plan = regularisers.draw_own_comparison()
with ablation:
    regularisers.draw_answer(plan)
    regularisers.draw_ablation(plan)
regularisers.draw_catalogue()
sources = (ablation_trainings, Ablation, evaluate_unbatched, augment, cross_entropy, distillation, clip_gradient)
panels.code_behind("regularisers", *sources)
