"""Bytes that an architecture takes: weights, a training step's state, attention patterns."""

from dataclasses import dataclass

from playground.accounting.parameters import count_parameters
from playground.config import ModelConfig


@dataclass(frozen=True)
class Memory:
    """Bytes needed for one purpose, and their formula; N is the number of parameters."""

    purpose: str
    formula: str
    n_bytes: int


def count_memory(config: ModelConfig, n_tokens: int) -> tuple[Memory, ...]:
    """Count the bytes that weights, an Adam training step's state, and one sentence's attention patterns take."""
    n = count_parameters(config).total
    cells = config.n_layers * config.n_heads * n_tokens**2
    return (
        Memory("weights, fp32", "4 · N", 4 * n),
        Memory("weights, bf16", "2 · N", 2 * n),
        Memory("training with Adam, fp32", "(4 weights + 4 gradients + 4 + 4 moments) · N", 16 * n),
        Memory("every attention pattern of one sentence, fp32", "4 · n_layers · n_heads · T²", 4 * cells),
    )
