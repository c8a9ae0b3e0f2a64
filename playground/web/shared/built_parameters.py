"""How many parameters a model holds once it is built, to set beside the count by formula."""

from dataclasses import replace

from playground.config import ModelConfig
from playground.model import Encoder, EncoderDecoder


def count_built_parameters(config: ModelConfig, tgt_vocab_size: int | None = None) -> int:
    """The sum of `numel()` over the parameters of an encoder, or of an encoder–decoder where it has a target.

    The model is built as shapes alone. A table of sines holds no parameters but would take its memory: it gets one row.
    """
    if config.positions != "learned":
        config = replace(config, max_len=1)
    model = Encoder(config, seed=None) if tgt_vocab_size is None else EncoderDecoder(config, tgt_vocab_size, seed=None)
    return sum(parameter.numel() for parameter in model.parameters())
