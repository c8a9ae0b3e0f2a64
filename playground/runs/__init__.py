"""One bounded pass each: (model, text) → arrays."""

from playground.runs.arrays import Array
from playground.runs.budget import check_budget, check_kept, check_pair_budget, check_pair_patterns
from playground.runs.device import choose_device
from playground.runs.dropout_run import DroppedRun, run_with_dropout
from playground.runs.encoder_run import Run, run
from playground.runs.layer_run import LayerRun, trace_layer
from playground.runs.pair_run import PairRun, run_pair

__all__ = [
    "Array",
    "DroppedRun",
    "LayerRun",
    "PairRun",
    "Run",
    "check_budget",
    "check_kept",
    "check_pair_budget",
    "check_pair_patterns",
    "choose_device",
    "run",
    "run_pair",
    "run_with_dropout",
    "trace_layer",
]
