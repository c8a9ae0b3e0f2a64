"""Labs of given encoders, for tests of views."""

from collections.abc import Sequence
from typing import Any

from playground.config import ModelConfig
from playground.link.lab import Lab, Source
from playground.link.params import SHARED
from playground.link.state import State, TextKey, WeightsId
from playground.model import Encoder
from playground.text import Tokenizer, characters


class GivenSource(Source):
    """A source with one encoder and one tokenizer."""

    def __init__(self, encoder: Encoder, tokenizer: Tokenizer) -> None:
        super().__init__()
        self.given, self.reader = encoder, tokenizer

    def tokenizer(self, key: TextKey) -> Tokenizer:
        return self.reader

    def encoder(self, weights: str, config: ModelConfig, seed: int) -> Encoder:
        return self.given


def lab_of(
    encoder: Encoder, texts: Sequence[str], tokenizer: Tokenizer | None = None, weights: str = "minilm", **values: Any
) -> Lab:
    """A lab of an encoder and of sentences as letters, or as the tokenizer reads them."""
    defaults = {key: param.default for key, param in SHARED.items()} | {"weights": weights, "tokenizer": "char"}
    config = {key: value for key, value in vars(encoder.config).items() if key in defaults}
    state = State(
        defaults | config | {"causal": False, **values},
        WeightsId(weights),
        own_rows=encoder.config.vocab_size,
        listed=tuple(texts),
    )
    return Lab(state, GivenSource(encoder, tokenizer or characters()))
