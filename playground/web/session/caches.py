"""Caches of tokenizers, encoders and their runs: bounded, with small keys."""

import functools
import inspect
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

import plotly.graph_objects as go
import streamlit as st
import torch

from playground.analysis import positions
from playground.config import ModelConfig
from playground.errors import InputError, PretrainedError
from playground.figures import attention
from playground.limits import MAX_TOKENS
from playground.model import Encoder
from playground.runs.arrays import Array
from playground.runs.budget import check_budget, check_kept
from playground.runs.device import choose_device
from playground.runs.dropout_run import DroppedRun, run_with_dropout
from playground.runs.encoder_run import Run, run
from playground.runs.layer_run import LayerRun
from playground.runs.layer_run import trace_layer as trace
from playground.text import Batch, Tokenizer, bpe, characters, words
from playground.web.server.settings import settings
from playground.web.session import session_models, trained_slot
from playground.web.session.turns import Turns
from playground.weights import checkpoint

P = ParamSpec("P")
R = TypeVar("R")

logger = logging.getLogger(__name__)

TURNS = Turns(n=1, timeout=settings().busy_timeout)
"""One heavy computation at a time: torch uses every core already."""


@dataclass(frozen=True)
class TextKey:
    """What a batch of tokens depends on; hashable, so that caches can be keyed by it.

    Attributes:
        tokenizer: `wordpiece`, `word`, `char`, `bpe`, or a trained network's key, for that network's own.
        vocab_size: what `bpe` is trained to; 0 for the others.
        max_tokens: where sentences are cut.
        sentences: the text.
    """

    tokenizer: str
    vocab_size: int
    max_tokens: int
    sentences: tuple[str, ...]


def warm_up() -> None:
    """Load the checkpoint before the first visitor comes."""
    checkpoint_available()


def device() -> torch.device:
    """Where models run."""
    return choose_device(settings().device)


@st.cache_resource(max_entries=1, ttl="10m", show_spinner=False)
def checkpoint_available() -> bool:
    """Whether the checkpoint is there; loads it the first time, and tries again later where it is not."""
    try:
        _checkpoint()
    except PretrainedError as error:
        logger.warning("The app goes on with random weights: %s", error)
        return False
    return True


def tokenizer(key: TextKey) -> Tokenizer:
    """The tokenizer that a text asks for; `word` takes its vocabulary from the text itself.

    Raises:
        UnavailableError: it is of a network that was trained in another session.
    """
    if session_models.is_trained_network(key.tokenizer):
        return trained_slot.find_tokenizer(key.tokenizer)
    if key.tokenizer == "wordpiece":
        return _checkpoint()[1]
    if key.tokenizer == "word":
        return words(key.sentences)
    return bpe(key.vocab_size) if key.tokenizer == "bpe" else characters()


_private_caches: list[Any] = []
"""The caches for one session each, of what was computed with its upload or its trained network."""


def clear_private() -> None:
    """Free what was computed with this session's upload and trained network, and their models."""
    for cache in _private_caches:
        cache.clear()
    session_models.clear()


def by_weights(max_entries: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorator that caches a function of `weights` for everybody; of uploads and trained networks, for one session."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)
        shared = st.cache_resource(max_entries=max_entries, show_spinner=False)(function)
        private = st.cache_resource(max_entries=1, show_spinner=False, scope="session")(function)
        _private_caches.append(private)

        @functools.wraps(function)
        def cached(*args: P.args, **kwargs: P.kwargs) -> R:
            weights = signature.bind(*args, **kwargs).arguments["weights"]
            return (shared if weights in {"minilm", "random"} else private)(*args, **kwargs)

        return cached

    return decorate


@st.cache_resource(max_entries=16, show_spinner=False)
def tokenize(key: TextKey) -> Batch:
    """The text as a batch of token ids."""
    return tokenizer(key).encode_batch(key.sentences, min(key.max_tokens, MAX_TOKENS))


@contextmanager
def turn(weights: str, config: ModelConfig, seed: int, n_tokens: int) -> Iterator[Encoder]:
    """Take a turn to compute with an encoder, once it and a text of this length are within the server's limits.

    Raises:
        TooLargeError: they are not.
        BusyError: no turn came free.
    """
    check_budget(config, settings().max_parameters)
    check_kept(config, n_tokens)
    with TURNS.take():
        yield encoder(weights, config, seed)


def batch_for(text: TextKey, config: ModelConfig) -> Batch:
    """The text's tokens; raises InputError if there are more than a visitor's own table has rows."""
    n = tokenizer(text).vocab_size
    if n > config.vocab_size:
        others = [f"char ({characters().vocab_size} tokens)"] if characters().vocab_size <= config.vocab_size else []
        fits = " or ".join([f"word with at most {config.vocab_size:,} different words", *others])
        raise InputError(
            f"The tokenizer {text.tokenizer} makes {n:,} different tokens of this, and your file's token table has "
            f"{config.vocab_size:,} rows: the tokenizer {fits} fits."
        )
    return tokenize(text)


@contextmanager
def turn_on(text: TextKey, weights: str, config: ModelConfig, seed: int) -> Iterator[tuple[Encoder, Batch]]:
    """Take a turn to compute with an encoder on a text; raises as `turn` and `batch_for`."""
    batch = batch_for(text, config)
    with turn(weights, config, seed, batch.ids.shape[1]) as model:
        yield model, batch


@by_weights(max_entries=6)
def run_sentence(text: TextKey, sentence: int, weights: str, config: ModelConfig, seed: int, causal: bool) -> Run:
    """Run one sentence of a text, counted from 0.

    Raises:
        TooLargeError: the model or the text is over this server's limits.
        BusyError: no turn came free.
        InputError: the sentence is longer than the position table, or has tokens that the token table has not.
    """
    with turn_on(text, weights, config, seed) as (model, batch):
        return run(model, batch, sentence, causal=causal)


@by_weights(max_entries=6)
def head_grid(text: TextKey, sentence: int, weights: str, config: ModelConfig, seed: int, causal: bool) -> go.Figure:
    """Every head of a run as thumbnails, drawn once; raises as `run_sentence`."""
    return attention.head_grid(run_sentence(text, sentence, weights, config, seed, causal).patterns())


@by_weights(max_entries=6)
def position_rows(weights: str, config: ModelConfig, seed: int) -> Array:
    """The position table's first rows, for the longest sentence there may be, as `positions.first_rows` gives them."""
    with turn(weights, config, seed, n_tokens=0) as model:
        return positions.first_rows(model, MAX_TOKENS)


@by_weights(max_entries=32)
def swap_words(
    text: TextKey, sentence: int, weights: str, config: ModelConfig, seed: int, causal: bool, first: int, second: int
) -> positions.Swap:
    """Exchange the tokens at two positions of a sentence; raises as `run_sentence`."""
    with turn_on(text, weights, config, seed) as (model, batch):
        return positions.swap_words(model, batch, sentence, first, second, causal=causal)


@by_weights(max_entries=4)
def trace_layer(
    text: TextKey, sentence: int, weights: str, config: ModelConfig, seed: int, causal: bool, layer: int
) -> LayerRun:
    """Run one sentence and keep all of one layer; raises as `run_sentence`."""
    with turn_on(text, weights, config, seed) as (model, batch):
        return trace(model, batch, sentence, layer, causal=causal)


@by_weights(max_entries=4)
def drop_layer(
    text: TextKey, sentence: int, weights: str, config: ModelConfig, seed: int, causal: bool, layer: int
) -> DroppedRun:
    """Run one sentence in train mode, in a model of its own, and keep one layer; raises as `run_sentence`."""
    with turn_on(text, weights, config, seed) as (model, batch):
        return run_with_dropout(model, batch, sentence, layer, seed=seed, causal=causal)


def encoder(weights: str, config: ModelConfig, seed: int) -> Encoder:
    """The encoder with these weights, as `Setup.weights`; check the config against the budget first."""
    if weights == "minilm":
        return _checkpoint()[0]
    return _random_encoder(config, seed) if weights == "random" else session_models.encoder(weights, config, seed)


@st.cache_resource(max_entries=2, show_spinner=False)
def _random_encoder(config: ModelConfig, seed: int) -> Encoder:
    return Encoder(config, seed).requires_grad_(False).to(device())


@st.cache_resource(max_entries=1, show_spinner=False)
def _checkpoint() -> tuple[Encoder, Tokenizer]:
    loaded, wordpiece = checkpoint.load("minilm")
    return loaded.to(device()), wordpiece
