"""The app's `Source`."""

import copy
import logging
from collections.abc import Callable, Hashable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, TypeVar

import streamlit as st
from torch import nn

from playground.config import ModelConfig
from playground.errors import PretrainedError, UnavailableError
from playground.language.family import find_network
from playground.language.network import EnglishNetwork, Spec, untrained
from playground.learn.exercise import FOLDER, Exercise, read_folders
from playground.link import lab
from playground.link.lab import PairKey, Source
from playground.link.state import AFTER, BEFORE, EVERYBODY, TRANSLATOR, RunKey, TextKey, WeightsId
from playground.model import Encoder, EncoderDecoder
from playground.runs.budget import check_budget, check_kept, check_pair_budget
from playground.runs.encoder_run import Run, run
from playground.text import Tokenizer
from playground.training import trained_network
from playground.training.trained_network import TrainedNetwork
from playground.web.session import own_models
from playground.web.session.services import services, session_results, this_session
from playground.weights import checkpoint

R = TypeVar("R")
M = TypeVar("M", bound=nn.Module)

logger = logging.getLogger(__name__)


@st.cache_resource(ttl=600.0, show_spinner=False)
def checkpoint_available() -> bool:
    """Load the checkpoint; return whether it is there."""
    try:
        _checkpoint()
    except PretrainedError as error:
        logger.warning("The app goes on with random weights: %s", error)
        return False
    return True


class AppSource(Source):
    """Weights and results of all visitors and of this session; raises as `Source`."""

    def tokenizer(self, key: TextKey) -> Tokenizer:
        """Return the tokenizer of a text."""
        own = own_models.find_tokenizer(key.tokenizer)
        if own is not None:
            return own
        return _checkpoint()[1] if key.tokenizer == "wordpiece" else super().tokenizer(key)

    def encoder(self, weights: str, config: ModelConfig, seed: int) -> Encoder:
        """Return the encoder with these weights."""
        if weights == "minilm":
            return _checkpoint()[0]
        if weights == "random":
            return _place_random(Encoder, config, seed)
        if weights.startswith((AFTER, BEFORE)):
            return self.english_network(weights, config, seed).encoder
        if own_models.is_trained_network(weights):
            return own_models.network_on_device(weights).encoder
        return own_models.uploaded_encoder(weights, config, seed)

    def find_english(self, spec: Spec, *, is_trained: bool = True) -> EnglishNetwork | None:
        """Return a network of the small English, if it is on this server."""
        here = services()

        def load() -> EnglishNetwork:
            found = find_network(spec, here.store) if is_trained else untrained(spec)
            if found is None:
                raise UnavailableError("It is trained by whoever asks for it.")
            found.network.to(here.device)
            return found

        try:
            return here.results.find((EnglishNetwork, spec, is_trained), load)
        except UnavailableError:  # what is missing is not remembered
            return None

    def translator(self) -> TrainedNetwork:
        """Return the shipped translator."""
        return _translator()[0]

    def trained_pair(self, weights: str) -> EncoderDecoder | None:
        """Return the translator, or the session's trained encoder–decoder; None for other weights."""
        if weights == TRANSLATOR:
            return _translator()[1]
        network = own_models.network_on_device(weights) if own_models.is_trained_network(weights) else None
        return network if isinstance(network, EncoderDecoder) else None

    def random_pair(self, config: ModelConfig, n_words: int, seed: int) -> EncoderDecoder:
        """Return an encoder–decoder with random weights."""
        check_pair_budget(config, n_words, services().settings.max_parameters)
        return _place_random(EncoderDecoder, config, n_words, seed)

    def check(self, config: ModelConfig, n_tokens: int) -> None:
        """Raise TooLargeError if a model or its run is over this server's limits."""
        check_budget(config, services().settings.max_parameters)
        check_kept(config, n_tokens)

    def turn(self) -> AbstractContextManager[None]:
        """Hold a turn; raises BusyError."""
        return services().turns.take()

    def remember(self, function: Callable[..., Any], key: Hashable, compute: Callable[[], R]) -> R:
        """Return a function's result, kept for everybody or in the session whose weights the key names."""
        named = RunKey | PairKey | WeightsId
        first = key[0] if isinstance(key, tuple) and not isinstance(key, named) else key
        owner = first.owner() if isinstance(first, named) else EVERYBODY
        if owner != EVERYBODY and owner != this_session():
            raise UnavailableError("These weights are of another session.")
        results = services().results if owner == EVERYBODY else session_results()
        return results.find((function, key), compute)


APP = AppSource()
tokenizer, encoder = APP.tokenizer, APP.encoder
run_sentence, turn_on_text = partial(lab.run_sentence, APP), partial(lab.turn_on_text, APP)


def prepare_run(key: RunKey, keep: Callable[[str], bool]) -> Callable[[], Run]:
    """Find a run's model, and return a function that runs it in any thread."""
    with turn_on_text(key) as (model, batch):
        return lambda: run(model, batch, key.sentence, keep=keep, **lab.pass_options(key))


def _place_random(kind: Callable[..., M], *arguments: Hashable) -> M:
    here = services()
    return here.results.find((kind, arguments), lambda: kind(*arguments).requires_grad_(False).to(here.device))


@st.cache_resource(show_spinner=False)
def _checkpoint() -> tuple[Encoder, Tokenizer]:
    loaded, wordpiece = checkpoint.load("minilm")
    return loaded.to(services().device), wordpiece


@st.cache_resource(show_spinner=False)
def _translator() -> tuple[TrainedNetwork, EncoderDecoder | None]:
    trained = trained_network.load_translator()
    network = copy.deepcopy(trained.network).to(services().device)
    return trained, network if isinstance(network, EncoderDecoder) else None


EXERCISE_FOLDERS = [FOLDER]


@st.cache_resource(show_spinner=False)
def shipped_exercises() -> Mapping[str, Exercise]:
    """Return the exercises by key."""
    return read_folders(EXERCISE_FOLDERS)
