"""What a model costs: its parameters and the work for a sentence, of the present and of the pinned settings."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from playground import accounting
from playground.accounting.readable import in_millions, in_units, times
from playground.config import ModelConfig
from playground.errors import PlaygroundError
from playground.model import Encoder, EncoderDecoder
from playground.web.choices.setup import Setup
from playground.web.shared.pinning import PinnedSide


def count_built_parameters(config: ModelConfig, tgt_vocab_size: int | None = None) -> int:
    """The sum of `numel()` over the parameters of an encoder, or of an encoder–decoder where it has a target.

    The model is built as shapes alone. A table of sines holds no parameters but would take its memory: it gets one row.
    """
    if config.positions != "learned":
        config = replace(config, max_len=1)
    model = Encoder(config, seed=None) if tgt_vocab_size is None else EncoderDecoder(config, tgt_vocab_size, seed=None)
    return sum(parameter.numel() for parameter in model.parameters())


EXAMPLE_TOKENS = 16
"""The length to count with where there is no sentence."""


@dataclass(frozen=True)
class ModelCosts:
    """Counts of one model and one sentence."""

    config: ModelConfig
    n_tokens: int
    parameters: accounting.Count
    flops: accounting.Count


def model_costs(setup: Setup) -> ModelCosts:
    """What the settings' model costs; raises PlaygroundError where the text cannot be read."""
    config = setup.config
    n_tokens, _ = sentence_length(setup, config)
    return ModelCosts(config, n_tokens, accounting.count_parameters(config), accounting.count_flops(config, n_tokens))


def pinned_costs(side: PinnedSide | None) -> ModelCosts | None:
    """What the pinned model costs; None where nothing is pinned, or its text cannot be read."""
    if side is None:
        return None
    try:
        return model_costs(side.setup)
    except PlaygroundError:
        return None


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


def sentence_length(setup: Setup, config: ModelConfig) -> tuple[int, str]:
    """The number of tokens to count a model's work with, and where it comes from; raises as `model_costs`."""
    n_tokens = setup.batch.ids.shape[1] if setup.text.sentences else EXAMPLE_TOKENS
    origin = "this sentence, with its padding" if setup.text.sentences else "an example, as there is no sentence"
    if n_tokens > config.max_len:
        origin += f", cut from {n_tokens} at max_len"
    return min(n_tokens, config.max_len), origin
