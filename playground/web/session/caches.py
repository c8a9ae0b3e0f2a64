"""Tokenizers, encoders and their runs, from bounded caches with small keys."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import plotly.graph_objects as go
import streamlit as st
import torch

from playground.config import ModelConfig
from playground.errors import InputError, PretrainedError
from playground.figures import attention
from playground.limits import MAX_TOKENS
from playground.model import Encoder
from playground.model.interventions import Intervention
from playground.runs.budget import check_budget, check_kept
from playground.runs.device import choose_device
from playground.runs.dropout_run import DroppedRun, run_with_dropout
from playground.runs.encoder_run import Run, run
from playground.runs.layer_run import LayerRun
from playground.runs.layer_run import trace_layer as trace
from playground.text import Batch, Tokenizer, build_tokenizer, characters
from playground.web.server.settings import settings
from playground.web.session import shipped_translator, trained_slot, uploaded_vocabulary, uploaded_weights
from playground.web.session.cache_metrics import publish_cache_metrics
from playground.web.session.random_weights import RandomWeights
from playground.web.session.turns import Turns
from playground.web.session.weights_cache import RESULTS, TRANSLATOR, Owner, WeightsId, cache_by_weights
from playground.weights import checkpoint

logger = logging.getLogger(__name__)

RANDOM_WEIGHTS = RandomWeights(settings().max_cached_weights, lambda: device())
"""Encoders with random weights."""


def _forget_results() -> None:
    """Clear the caches that visitors share: where a computation ran out of memory, they hold its half."""
    RESULTS.clear()
    RANDOM_WEIGHTS.clear()


TURNS = Turns(n=1, timeout=settings().busy_timeout, free=_forget_results)
"""One computation at a time, and a long one beside it: torch uses as many threads as the settings give it."""

publish_cache_metrics(results=RESULTS, weights=RANDOM_WEIGHTS)


@dataclass(frozen=True)
class TextKey:
    """What a batch of tokens depends on."""

    tokenizer: str
    """`wordpiece`, `word`, `char`, `bpe`, `translator`; or a trained network's key, or an upload's, for its own."""
    vocab_size: int
    """What `bpe` is trained to; 0 for the others."""
    max_tokens: int
    """Where sentences are cut."""
    sentences: tuple[str, ...]


class RunKey(NamedTuple):
    """What the run of one sentence depends on."""

    text: TextKey
    sentence: int
    """Counted from 0."""
    weights: WeightsId
    """As `Setup.weights`."""
    config: ModelConfig
    seed: int
    causal: bool
    interventions: tuple[Intervention, ...] = ()
    """Changes of the computation, all of which this sentence's run can have."""

    def owner(self) -> Owner:
        """Who may see the run."""
        return self.weights.owner()


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
        UnavailableError: it is of a network or a file that another session has, or that this server has not.
    """
    if key.tokenizer == TRANSLATOR:
        return shipped_translator.find_translator().tokenizer
    if trained_slot.is_trained_network(key.tokenizer):
        return trained_slot.find_network(key.tokenizer).tokenizer
    if uploaded_vocabulary.is_own_tokenizer(key.tokenizer):
        return uploaded_vocabulary.find_tokenizer(key.tokenizer)
    if key.tokenizer == "wordpiece":
        return _checkpoint()[1]
    return build_tokenizer(key.tokenizer, key.vocab_size, key.sentences)


@RESULTS
def tokenize(key: TextKey) -> Batch:
    """The text as a batch of token ids.

    Raises:
        InputError: an upload's own vocabulary lacks a word, or a typed id is no row of its token table.
    """
    return tokenizer(key).encode_batch(key.sentences, min(key.max_tokens, MAX_TOKENS))


@contextmanager
def turn_on_text(key: RunKey) -> Iterator[tuple[Encoder, Batch]]:
    """Take a turn to compute with an encoder on a text; raises as `run_sentence`."""
    n = tokenizer(key.text).vocab_size
    if 0 < key.config.vocab_size < n:
        rows, n_characters = key.config.vocab_size, characters().vocab_size
        also = f" or char ({n_characters} tokens)" if n_characters <= rows else ""
        raise InputError(
            f"The tokenizer {key.text.tokenizer} makes {n:,} different tokens of this, and your file's token table has "
            f"{rows:,} rows: the tokenizer word with at most {rows:,} different words{also} fits."
        )
    batch = tokenize(key.text)
    check_budget(key.config, settings().max_parameters)
    check_kept(key.config, batch.ids.shape[1])
    with TURNS.take():
        yield encoder(key.weights, key.config, key.seed), batch


def _options(key: RunKey) -> dict[str, Any]:
    return {"seed": key.seed, "causal": key.causal, "interventions": key.interventions}


@cache_by_weights
def run_sentence(key: RunKey) -> Run:
    """Run one sentence of a text.

    Raises:
        TooLargeError: the model or the text is over this server's limits.
        BusyError: no turn came free.
        InputError: the sentence is longer than the position table, or has tokens that the token table has not.
    """
    return compute_run(key)


def compute_run(key: RunKey) -> Run:
    """The same, of which nothing is kept: for many sentences, of each of which little is needed."""
    with turn_on_text(key) as (model, batch):
        return run(model, batch, key.sentence, **_options(key))


def prepare_run(key: RunKey, keep: Callable[[str], bool]) -> Callable[[], Run]:
    """A function that runs the sentence and keeps what `keep` says, in any thread: the model is found here and now.

    Both raise as `run_sentence`.
    """
    with turn_on_text(key) as (model, batch):
        pass

    def compute() -> Run:
        with TURNS.take():
            return run(model, batch, key.sentence, keep=keep, **_options(key))

    return compute


@cache_by_weights
def head_grid(key: RunKey, scale: attention.WeightScale, *, hide_special: bool) -> go.Figure:
    """Every head of a run as thumbnails, with or without special tokens, drawn once; raises as `run_sentence`."""
    computed = run_sentence(key)
    patterns = computed.patterns()
    if hide_special:
        patterns = patterns[:, :, ~computed.special][..., ~computed.special]
    return attention.head_grid(patterns, scale=scale)


@cache_by_weights
def trace_layer(key: RunKey, layer: int) -> LayerRun:
    """Run one sentence and keep all of one layer; raises as `run_sentence`."""
    known = run_sentence(key)
    with turn_on_text(key) as (model, batch):
        return trace(model, batch, key.sentence, layer, known=known, **_options(key))


@cache_by_weights
def drop_layer(key: RunKey, layer: int) -> DroppedRun:
    """Run one sentence in train mode, in a model of its own and without the key's changes; raises as `run_sentence`."""
    with turn_on_text(key) as (model, batch):
        return run_with_dropout(model, batch, key.sentence, layer, seed=key.seed, causal=key.causal)


def encoder(weights: str, config: ModelConfig, seed: int) -> Encoder:
    """The encoder with these weights, as `Setup.weights`; check the config against the budget first.

    Raises:
        UnavailableError: the weights are of another session.
    """
    if weights == "minilm":
        return _checkpoint()[0]
    if weights == "random":
        return RANDOM_WEIGHTS.encoder(config, seed)
    if trained_slot.is_trained_network(weights):
        return trained_slot.network_on_device(weights).encoder
    return uploaded_weights.uploaded_encoder(weights, config, seed)


@st.cache_resource(max_entries=1, show_spinner=False)
def _checkpoint() -> tuple[Encoder, Tokenizer]:
    loaded, wordpiece = checkpoint.load("minilm")
    return loaded.to(device()), wordpiece
