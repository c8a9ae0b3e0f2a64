"""The encoder that a recognised file is of."""

from collections.abc import Mapping
from dataclasses import replace

from torch import Tensor

from playground.config import ModelConfig
from playground.model import Encoder, EncoderDecoder
from playground.weights.load import load_weights
from playground.weights.recognise import RecognisedWeights


def build_encoder(
    tensors: Mapping[str, Tensor], recognised: RecognisedWeights, config: ModelConfig, seed: int = 0
) -> Encoder:
    """Make the encoder whose weights these are: of tutorial E the encoder half.

    Where the file has no token table but the config does, its rows are drawn from the seed.

    Raises:
        WeightsError: names the first tensor that is missing, of another shape, or one too many.
    """
    if recognised.scheme == "tutorial-e":
        both = EncoderDecoder(config, recognised.tgt_vocab_size, seed=None)
        load_weights(both, tensors, recognised.scheme)
        return both.encoder
    loaded = Encoder(replace(config, vocab_size=recognised.settings["vocab_size"]), seed=None)
    load_weights(loaded, tensors, recognised.scheme)
    if loaded.config == config:
        return loaded
    encoder = Encoder(config, seed)
    encoder.load_state_dict(loaded.state_dict(), strict=False)
    return encoder
