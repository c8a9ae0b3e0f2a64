"""One bounded pass each: (model, text) → arrays."""

from playground.runs.arrays import Array
from playground.runs.budget import check_budget, check_kept, check_pair_budget, check_pair_patterns, choose_device
from playground.runs.encoder_run import DroppedRun, LayerRun, Run, run, run_with_dropout, trace_layer
from playground.runs.forward_pass import intervention_subject
from playground.runs.pair_run import PairRun, run_pair
from playground.runs.variant_runs import VariantBatch, run_variants

__all__ = [
    "Array",
    "DroppedRun",
    "LayerRun",
    "PairRun",
    "Run",
    "VariantBatch",
    "check_budget",
    "check_kept",
    "check_pair_budget",
    "check_pair_patterns",
    "choose_device",
    "intervention_subject",
    "run",
    "run_pair",
    "run_variants",
    "run_with_dropout",
    "trace_layer",
]
