"""Parameters, arithmetic, bytes and shapes of an architecture: named terms, from its config alone."""

from playground.accounting.counts import (
    LABELS,
    Count,
    Term,
    attention_overtakes,
    count_encoder_decoder,
    count_flops,
    count_memory,
    count_parameters,
    flops_by_length,
)
from playground.accounting.shapes import list_shapes, symbolic_shapes

__all__ = [
    "LABELS",
    "Count",
    "Term",
    "attention_overtakes",
    "count_encoder_decoder",
    "count_flops",
    "count_memory",
    "count_parameters",
    "flops_by_length",
    "list_shapes",
    "symbolic_shapes",
]
