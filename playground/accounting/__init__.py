"""Parameters, arithmetic, bytes and shapes of an architecture: named terms, from its config alone."""

from playground.accounting.flops import attention_overtakes, count_flops, flops_by_length
from playground.accounting.head_costs import count_attention_head, count_head_flops
from playground.accounting.memory import Memory, count_memory
from playground.accounting.parameters import count_encoder_decoder, count_parameters
from playground.accounting.shapes import list_shapes, symbolic_shapes
from playground.accounting.stages import Stage, list_stages
from playground.accounting.terms import LABELS, Component, Count, Term

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
