"""Tokenizers, encoders, encoder–decoders, their runs, and the exercises, from bounded caches with small keys."""

import copy
import logging
from collections.abc import Callable, Hashable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, NamedTuple, TypeVar

from playground.config import ModelConfig
from playground.errors import PlaygroundError, PretrainedError, UnavailableError
from playground.language.network import EnglishNetwork, Spec
from playground.learn.exercise import FOLDER, Exercise, read_folders
from playground.limits import MAX_TOKENS
from playground.link import lab
from playground.link.lab import Source, read_text
from playground.link.state import AFTER, BEFORE, EVERYBODY, Owner, RunKey, TextKey, WeightsId
from playground.model import Encoder, EncoderDecoder
from playground.runs.budget import check_budget, check_kept, check_pair_budget, check_pair_patterns
from playground.runs.encoder_run import Run, run
from playground.runs.pair_run import PairRun
from playground.runs.pair_run import run_pair as run_both_halves
from playground.text import Tokenizer
from playground.training import shipped_network
from playground.training.answers import write_targets
from playground.training.trained_network import TrainedNetwork
from playground.web.session import trained_slot, uploaded_files
from playground.web.session.services import services
from playground.web.session.weights_cache import (
    TRANSLATOR,
    cache_by_weights,
    cache_for_everybody,
    common_owner,
    keep,
    load_once,
)
from playground.weights import checkpoint

R = TypeVar("R")

logger = logging.getLogger(__name__)


class TwoRuns(NamedTuple):
    """What depends on two runs: of the pinned settings, and of the present ones."""

    pinned: RunKey
    now: RunKey

    def owner(self) -> Owner:
        """Who may see both."""
        return common_owner(self.pinned, self.now)


class PairKey(NamedTuple):
    """What the run of a pair depends on: one sentence of a source text and one line of a target text."""

    source: TextKey
    sentence: int
    """Counted from 0, as `line`."""
    target: TextKey
    line: int
    weights: WeightsId
    """`random`, `translator`, or a trained encoder–decoder's, before or after training."""
    config: ModelConfig
    seed: int

    @property
    def is_example(self) -> bool:
        """Whether it is of the trained example, and not of the visitor's text."""
        return self.weights == TRANSLATOR

    def owner(self) -> Owner:
        """Who may see the run."""
        return self.weights.owner()


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
        if key.tokenizer == TRANSLATOR:
            return find_translator().tokenizer
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

    def check(self, config: ModelConfig, n_tokens: int) -> None:
        """Raise TooLargeError if a model or its run is over this server's limits."""
        check_budget(config, services().settings.max_parameters)
        check_kept(config, n_tokens)

    def turn(self) -> AbstractContextManager[None]:
        """Context in which this thread may compute; BusyError where no turn came free. Turns can be nested."""
        return services().turns.take()

    def remember(self, function: Callable[..., Any], key: Hashable, compute: Callable[[], R]) -> R:
        """What a function computes of a key; for everybody, or in the session whose weights the key names."""
        first = key[0] if isinstance(key, tuple) and not isinstance(key, RunKey) else key
        owner = first.owner() if isinstance(first, RunKey) else EVERYBODY
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


@cache_by_weights
def run_pair(key: PairKey) -> PairRun:
    """Run one sentence of a source text and one line of a target text.

    Raises:
        TooLargeError: the model or the texts are over this server's limits.
        BusyError: no turn came free.
        InputError: a tokenizer has no word for the target, or a sentence is longer than the position table.
    """
    sources, targets = tokenize(key.source), tokenize(key.target)
    tgt_vocab_size = tokenizer(key.target).vocab_size
    check_pair_budget(key.config, tgt_vocab_size, services().settings.max_parameters)
    check_pair_patterns(key.config, sources.ids.shape[1], targets.ids.shape[1])
    with services().turns.take():
        is_random = key.weights == "random"
        model = _random_pair(key.config, tgt_vocab_size, key.seed) if is_random else trained_pair(key.weights)
        return run_both_halves(model, sources, targets, key.sentence, key.line)


@cache_by_weights
def generate_lines(weights: WeightsId, source: TextKey, max_len: int) -> tuple[str, ...]:
    """A trained encoder–decoder's answer to each sentence: the likeliest token at every step.

    Raises:
        BusyError: no turn came free.
        UnavailableError: this session has no such network.
        InputError: a sentence is longer than the position table.
    """
    sources, vocabulary, model = tokenize(source), tokenizer(source), trained_pair(weights)
    with services().turns.take():
        return write_targets(model, vocabulary, sources, min(max_len, MAX_TOKENS) - 1)


def trained_pair(weights: str) -> EncoderDecoder:
    """The shipped translator, or the session's trained encoder–decoder; raises UnavailableError where there is none."""
    if weights == TRANSLATOR:
        return translator_on_device()
    network = trained_slot.network_on_device(weights)
    if not isinstance(network, EncoderDecoder):
        raise TypeError("an encoder alone has no decoder")
    return network


@cache_for_everybody(max_entries=1)  # both halves together are large
def _random_pair(config: ModelConfig, tgt_vocab_size: int, seed: int) -> EncoderDecoder:
    return EncoderDecoder(config, tgt_vocab_size, seed).requires_grad_(False).to(services().device)


@load_once()
def translator() -> TrainedNetwork | None:
    """The translator that comes with the app; None where its file is missing or is not the one that was shipped."""
    try:
        return shipped_network.load_translator()
    except PlaygroundError as error:
        logger.warning("The page Encoder-decoder goes on without its trained example: %s", error)
        return None


def find_translator() -> TrainedNetwork:
    """The translator that comes with the app; raises UnavailableError where there is none."""
    found = translator()
    if found is None:
        raise UnavailableError("The trained example is not on this server.")
    return found


@load_once()
def translator_on_device() -> EncoderDecoder:
    """A copy of the shipped translator on the device where models run; raises as `find_translator`."""
    network = copy.deepcopy(find_translator().network).to(services().device)
    if not isinstance(network, EncoderDecoder):
        raise TypeError("the translator has a decoder")
    return network


EXERCISE_FOLDERS = [FOLDER]
"""Where the exercises lie that this server asks."""


@load_once()
def shipped_exercises() -> Mapping[str, Exercise]:
    """The exercises by key; raises `InputError` where a file is none."""
    return read_folders(EXERCISE_FOLDERS)
