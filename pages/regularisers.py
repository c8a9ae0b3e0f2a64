"""Ten regularisers and what each changes: one task, many runs, measured side by side."""

from playground.training.network import evaluate_in_use
from playground.training.trainer import clip_gradient, cross_entropy, distillation, mask_tokens
from playground.training.variants import VariantTraining, regulariser_runs
from playground.web.shared import panels
from playground.web.views.regularisers import draw_regularisers

draw_regularisers()
sources = regulariser_runs, VariantTraining, evaluate_in_use, mask_tokens, cross_entropy, distillation, clip_gradient
panels.code_behind("regularisers", *sources)
