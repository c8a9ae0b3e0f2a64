"""Ten regularisers and what each changes: one task, many runs, measured side by side."""

import streamlit as st

from playground.training.augment import mask_tokens
from playground.training.network import evaluate_unbatched
from playground.training.regularisers import regulariser_runs
from playground.training.trainer import clip_gradient, cross_entropy, distillation
from playground.training.variants import VariantTraining
from playground.web.shared import panels
from playground.web.views import regularisers

panels.draw_heading("What does each ingredient of training change?")
answer = st.container()  # drawn once the settings are known, from which the runs may differ by now
plan = regularisers.draw_settings()
with answer:
    regularisers.draw_answer(plan)
regularisers.draw_runs(plan)
regularisers.draw_ready()
regularisers.draw_explanations()
sources = (
    regulariser_runs,
    VariantTraining,
    evaluate_unbatched,
    mask_tokens,
    cross_entropy,
    distillation,
    clip_gradient,
)
panels.code_behind("regularisers", *sources)
