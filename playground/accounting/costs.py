"""What a model costs: its parameters, and the work for one sentence."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from playground.accounting.counts import Count, count_flops, count_parameters
from playground.accounting.readable import in_millions, in_units, times
from playground.config import ModelConfig


@dataclass(frozen=True)
class ModelCosts:
    """A model and a sentence's length, with what is counted of them."""

    config: ModelConfig
    n_tokens: int
    """Of the sentence."""
    length_from: str = "this sentence"
    """Which sentence that is."""
    name: str = "this model"

    @cached_property
    def parameters(self) -> Count:
        """The model's parameters, in named terms."""
        return count_parameters(self.config)

    @cached_property
    def flops(self) -> Count:
        """The floating-point operations of one pass over the sentence, in named terms."""
        return count_flops(self.config, self.n_tokens)


EXAMPLE_TOKENS = 16
"""The length to count with where there is no sentence."""


def sentence_costs(config: ModelConfig, n_tokens: int | None, name: str = "this model") -> ModelCosts:
    """What a model costs for a sentence of so many tokens with its padding, or for an example where there is none."""
    origin = "an example, as there is no sentence" if n_tokens is None else "this sentence, with its padding"
    n_read = min(n_tokens or EXAMPLE_TOKENS, config.max_len)
    if n_read < (n_tokens or EXAMPLE_TOKENS):
        origin += f", cut from {n_tokens or EXAMPLE_TOKENS} at max_len"
    return ModelCosts(config, n_read, origin, name)


def describe_costs(pinned: ModelCosts, now: ModelCosts) -> str:
    """Both models' parameters and work, the pinned one's first, in one sentence."""
    parameters = _describe_change(pinned.parameters.total, now.parameters.total, in_millions)
    flops = _describe_change(pinned.flops.total, now.flops.total, lambda n: in_units(n, "FLOPs"))
    tokens = (pinned.n_tokens, now.n_tokens)
    length = f"{tokens[1]} tokens" if tokens[0] == tokens[1] else f"{tokens[0]} → {tokens[1]} tokens"
    return f"Parameters: {parameters}. The forward pass over {length}: {flops}."


def _describe_change(before: int, after: int, write: Callable[[int], str]) -> str:
    if before == after:
        return f"{write(after)} in both"
    ratio = f" ({times(after / before)})" if before and after else ""
    return f"{write(before)} → {write(after)}{ratio}"
