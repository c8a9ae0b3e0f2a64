"""What visitors share: tokenizers, encoders and runs, each cached under small keys and within bounds."""

import logging
from dataclasses import dataclass

import streamlit as st
import torch

from playground import pretrained
from playground.config import ModelConfig
from playground.engine import Run, Turns, check_budget, check_patterns, choose_device, run
from playground.limits import MAX_TOKENS
from playground.model import Encoder
from playground.text import Batch, Tokenizer, bpe, characters, words
from playground.web.settings import settings

logger = logging.getLogger(__name__)

TURNS = Turns(n=1, timeout=settings().busy_timeout)
"""One heavy computation at a time: torch uses every core already."""


@dataclass(frozen=True)
class TextKey:
    """What a batch of tokens depends on; hashable, so that caches can be keyed by it.

    Attributes:
        tokenizer: `wordpiece`, `word`, `char` or `bpe`.
        vocab_size: what `bpe` is trained to; 0 for the others.
        max_tokens: where sentences are cut.
        sentences: the text.
    """

    tokenizer: str
    vocab_size: int
    max_tokens: int
    sentences: tuple[str, ...]


def warm_up() -> None:
    """Load the trained model before the first visitor comes."""
    trained_available()


def device() -> torch.device:
    """Where models run."""
    return choose_device(settings().device)


def trained_available() -> bool:
    """Whether the trained weights are there; loads them the first time."""
    return _trained() is not None


def tokenizer(key: TextKey) -> Tokenizer:
    """The tokenizer that a text asks for; `word` takes its vocabulary from the text itself."""
    if key.tokenizer == "wordpiece":
        return _require_trained()[1]
    if key.tokenizer == "word":
        return words(key.sentences)
    return bpe(key.vocab_size) if key.tokenizer == "bpe" else characters()


@st.cache_resource(max_entries=16, show_spinner=False)
def tokenize(key: TextKey) -> Batch:
    """The text as a batch of token ids."""
    return tokenizer(key).encode_batch(key.sentences, min(key.max_tokens, MAX_TOKENS))


@st.cache_resource(max_entries=6, show_spinner=False)
def run_sentence(text: TextKey, sentence: int, weights: str, config: ModelConfig, seed: int, causal: bool) -> Run:
    """Run one sentence of a text, counted from 0.

    Raises:
        TooLargeError: the model or the text is over this server's limits.
        BusyError: no turn came free.
        ValueError: the sentence is longer than the position table.
    """
    batch = tokenize(text)
    check_budget(config, settings().max_parameters)
    check_patterns(config, batch.ids.shape[1])
    with TURNS.take():
        return run(encoder(weights, config, seed), batch, sentence, causal=causal)


def encoder(weights: str, config: ModelConfig, seed: int) -> Encoder:
    """The trained encoder, or one with random weights; check the config against the budget first."""
    return _require_trained()[0] if weights == "minilm" else _random_encoder(config, seed)


@st.cache_resource(max_entries=2, show_spinner=False)
def _random_encoder(config: ModelConfig, seed: int) -> Encoder:
    return Encoder(config, seed).requires_grad_(False).to(device())


@st.cache_resource(max_entries=1, show_spinner=False)
def _trained() -> tuple[Encoder, Tokenizer] | None:
    try:
        loaded, wordpiece = pretrained.load("minilm")
    except pretrained.PretrainedError as error:
        logger.warning("The app goes on with random weights: %s", error)
        return None
    return loaded.to(device()), wordpiece


def _require_trained() -> tuple[Encoder, Tokenizer]:
    loaded = _trained()
    if loaded is None:
        raise ValueError(f"The trained weights are not on this server; {pretrained.HOW_TO_GET_MINILM}.")
    return loaded
