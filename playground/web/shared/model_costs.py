"""What a model costs: its parameters and the work for a sentence, of the present and of the pinned settings."""

from dataclasses import replace

from playground.accounting.readable import ModelCosts, sentence_costs
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


def model_costs(setup: Setup, config: ModelConfig | None = None, name: str = "this model") -> ModelCosts:
    """What the settings' model, or another one, costs for their text; raises PlaygroundError where it is unreadable."""
    n_tokens = setup.batch.ids.shape[1] if setup.text.sentences else None
    return sentence_costs(config or setup.config, n_tokens, name)


def pinned_costs(side: PinnedSide | None) -> ModelCosts | None:
    """What the pinned model costs; None where nothing is pinned, or its text cannot be read."""
    if side is None:
        return None
    try:
        return model_costs(side.setup)
    except PlaygroundError:
        return None
