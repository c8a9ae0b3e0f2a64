"""Tokenizers, encoders, encoder–decoders, their runs, and the exercises, from bounded caches with small keys."""

import copy
import logging
from collections.abc import Callable, Hashable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, TypeVar

from playground.config import ModelConfig
from playground.errors import PretrainedError
from playground.language.network import EnglishNetwork, Spec
from playground.learn.exercise import FOLDER, Exercise, read_folders
from playground.link import lab
from playground.link.lab import Source, read_text
from playground.link.pairs import PairKey
from playground.link.state import AFTER, BEFORE, EVERYBODY, TRANSLATOR, RunKey, TextKey, WeightsId
from playground.model import Encoder, EncoderDecoder
from playground.runs.budget import check_budget, check_kept, check_pair_budget
from playground.runs.encoder_run import Run, run
from playground.text import Tokenizer
from playground.training import trained_network
from playground.training.trained_network import TrainedNetwork
from playground.web.session import trained_slot, uploaded_files
from playground.web.session.services import services
from playground.web.session.weights_cache import (
    cache_for_everybody,
    keep,
    load_once,
)
from playground.weights import checkpoint

R = TypeVar("R")

logger = logging.getLogger(__name__)


@load_once(seconds=600.0)
def checkpoint_available() -> bool:
    """Whether the checkpoint is there; loads it the first time, and tries again later where it is not."""
    try:
        _checkpoint()
    except PretrainedError as error:
        logger.warning("The app goes on with random weights: %s", error)
        return False
    return True


class AppSource(Source):
    """Where the app's labs have their weights and kept results: what all visitors share, and what a session has."""

    def tokenizer(self, key: TextKey) -> Tokenizer:
        """The tokenizer of a text.

        Raises:
            UnavailableError: it is of a network or a file that another session has, or that this server has not.
        """
        if trained_slot.is_trained_network(key.tokenizer):
            return trained_slot.find_network(key.tokenizer).tokenizer
        if uploaded_files.is_own_tokenizer(key.tokenizer):
            return uploaded_files.find_tokenizer(key.tokenizer)
        return _checkpoint()[1] if key.tokenizer == "wordpiece" else super().tokenizer(key)

    def encoder(self, weights: str, config: ModelConfig, seed: int) -> Encoder:
        """The encoder with these weights; raises UnavailableError where they are of another session."""
        if weights == "minilm":
            return _checkpoint()[0]
        if weights == "random":
            return random_encoder(config, seed)
        if weights.startswith((AFTER, BEFORE)):
            return self.english_network(weights, config, seed).encoder
        if trained_slot.is_trained_network(weights):
            return trained_slot.network_on_device(weights).encoder
        return uploaded_files.uploaded_encoder(weights, config, seed)

    def find_english(self, spec: Spec, *, is_trained: bool) -> EnglishNetwork | None:
        """A network of the small English, if it is on this server."""
        networks = services().networks
        return networks.find(spec) if is_trained else networks.initial(spec)

    def translator(self) -> TrainedNetwork:
        """The translator that comes with the app; raises WeightsError if its file is another."""
        return _translator()

    def trained_pair(self, weights: str) -> EncoderDecoder | None:
        """The shipped translator, or the session's trained encoder–decoder; None for other weights."""
        if weights == TRANSLATOR:
            return _translator_on_device()
        network = trained_slot.network_on_device(weights) if trained_slot.is_trained_network(weights) else None
        return network if isinstance(network, EncoderDecoder) else None

    def random_pair(self, config: ModelConfig, n_words: int, seed: int) -> EncoderDecoder:
        """An encoder–decoder with random weights; raises TooLargeError."""
        check_pair_budget(config, n_words, services().settings.max_parameters)
        return _random_pair(config, n_words, seed)

    def check(self, config: ModelConfig, n_tokens: int) -> None:
        """Raise TooLargeError if a model or its run is over this server's limits."""
        check_budget(config, services().settings.max_parameters)
        check_kept(config, n_tokens)

    def turn(self) -> AbstractContextManager[None]:
        """Context in which this thread may compute; BusyError where no turn came free. Turns can be nested."""
        return services().turns.take()

    def remember(self, function: Callable[..., Any], key: Hashable, compute: Callable[[], R]) -> R:
        """What a function computes of a key; for everybody, or in the session whose weights the key names."""
        named = RunKey | PairKey | WeightsId
        first = key[0] if isinstance(key, tuple) and key and not isinstance(key, named) else key
        owner = first.owner() if isinstance(first, named) else EVERYBODY
        return keep(function, key, owner, compute)


APP = AppSource()
tokenizer, encoder, english_network = APP.tokenizer, APP.encoder, APP.english_network
tokenize, run_sentence, compute_run = (
    partial(read_text, APP),
    partial(lab.run_sentence, APP),
    partial(lab.compute_run, APP),
)
trace_layer, turn_on_text = partial(lab.trace_layer, APP), partial(lab.turn_on_text, APP)


def prepare_run(key: RunKey, keep: Callable[[str], bool]) -> Callable[[], Run]:
    """A function that runs the sentence and keeps what `keep` says, in any thread: the model is found here and now.

    Both raise as `run_sentence`.
    """
    with turn_on_text(key) as (model, batch):
        pass

    def compute() -> Run:
        with services().turns.take():
            return run(model, batch, key.sentence, keep=keep, **lab.pass_options(key))

    return compute


@cache_for_everybody()
def random_encoder(config: ModelConfig, seed: int) -> Encoder:
    """The encoder with random weights of a seed."""
    return Encoder(config, seed).requires_grad_(False).to(services().device)


@load_once()
def _checkpoint() -> tuple[Encoder, Tokenizer]:
    loaded, wordpiece = checkpoint.load("minilm")
    return loaded.to(services().device), wordpiece


@cache_for_everybody(max_entries=1)  # both halves together are large
def _random_pair(config: ModelConfig, tgt_vocab_size: int, seed: int) -> EncoderDecoder:
    return EncoderDecoder(config, tgt_vocab_size, seed).requires_grad_(False).to(services().device)


@load_once()
def _translator() -> TrainedNetwork:
    return trained_network.load_translator()


@load_once()
def _translator_on_device() -> EncoderDecoder | None:
    """A copy of the shipped translator on the device where models run."""
    network = copy.deepcopy(_translator().network).to(services().device)
    return network if isinstance(network, EncoderDecoder) else None


EXERCISE_FOLDERS = [FOLDER]
"""Where the exercises lie that this server asks."""


@load_once()
def shipped_exercises() -> Mapping[str, Exercise]:
    """The exercises by key; raises `InputError` where a file is none."""
    return read_folders(EXERCISE_FOLDERS)
