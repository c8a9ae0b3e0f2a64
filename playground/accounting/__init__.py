"""Parameters, arithmetic, bytes and shapes of an architecture: named terms, from its config alone."""

from playground.accounting.counts import (
    LABELS,
    Component,
    Count,
    Memory,
    Term,
    attention_overtakes,
    count_attention_head,
    count_encoder_decoder,
    count_flops,
    count_head_flops,
    count_memory,
    count_parameters,
    flops_by_length,
)
from playground.accounting.shapes import Stage, list_shapes, list_stages, symbolic_shapes

__all__ = [
    "LABELS",
    "Component",
    "Count",
    "Memory",
    "Stage",
    "Term",
    "attention_overtakes",
    "count_attention_head",
    "count_encoder_decoder",
    "count_flops",
    "count_head_flops",
    "count_memory",
    "count_parameters",
    "flops_by_length",
    "list_shapes",
    "list_stages",
    "symbolic_shapes",
]
