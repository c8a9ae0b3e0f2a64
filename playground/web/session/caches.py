"""Tokenizers, encoders, encoder–decoders, their runs, and the exercises, from bounded caches with small keys."""

import copy
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from playground.charts import weights
from playground.config import ModelConfig
from playground.errors import InputError, PlaygroundError, PretrainedError, UnavailableError
from playground.language.network import EnglishNetwork, Spec
from playground.language.text import english_tokenizer, hide_word
from playground.learn.exercise import FOLDER, Exercise, read_folders
from playground.limits import MAX_TOKENS
from playground.model import Encoder, EncoderDecoder
from playground.model.changes import Change
from playground.runs.arrays import Array
from playground.runs.budget import check_budget, check_kept, check_pair_budget, check_pair_patterns
from playground.runs.encoder_run import DroppedRun, LayerRun, Run, run, run_with_dropout
from playground.runs.encoder_run import trace_layer as trace
from playground.runs.pair_run import PairRun
from playground.runs.pair_run import run_pair as run_both_halves
from playground.text import Batch, Tokenizer, build_tokenizer, characters
from playground.training import shipped_network
from playground.training.answers import write_targets
from playground.training.trained_network import TrainedNetwork
from playground.web.session import trained_slot, uploaded_files
from playground.web.session.networks import AFTER, BEFORE
from playground.web.session.result_cache import CacheKey, Owner
from playground.web.session.services import services
from playground.web.session.weights_cache import (
    TRANSLATOR,
    WeightsId,
    cache_by_weights,
    cache_for_everybody,
    common_owner,
    load_once,
)
from playground.weights import checkpoint

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class TextKey:
    """What a batch of tokens depends on."""

    tokenizer: str
    """`wordpiece`, `word`, `char`, `bpe`, `english`, `translator`; or the key of a network or upload with its own."""
    vocab_size: int
    """What `bpe` is trained to; 0 for the others."""
    max_tokens: int
    """Where sentences are cut."""
    sentences: tuple[str, ...]
    hidden: tuple[int, int] | None = None
    """The sentence and the position of the word that the mask stands for; None where none is hidden."""


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
    interventions: tuple[Change, ...] = ()
    """Changes of the computation, all of which this sentence's run can have."""

    def owner(self) -> Owner:
        """Who may see the run."""
        return self.weights.owner()


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


def tokenizer(key: TextKey) -> Tokenizer:
    """The tokenizer that a text asks for; `word` takes its vocabulary from the text itself.

    Raises:
        UnavailableError: it is of a network or a file that another session has, or that this server has not.
    """
    if key.tokenizer == TRANSLATOR:
        return find_translator().tokenizer
    if key.tokenizer == "english":
        return english_tokenizer()
    if trained_slot.is_trained_network(key.tokenizer):
        return trained_slot.find_network(key.tokenizer).tokenizer
    if uploaded_files.is_own_tokenizer(key.tokenizer):
        return uploaded_files.find_tokenizer(key.tokenizer)
    if key.tokenizer == "wordpiece":
        return _checkpoint()[1]
    return build_tokenizer(key.tokenizer, key.vocab_size, key.sentences)


@cache_for_everybody()
def tokenize(key: TextKey) -> Batch:
    """The text as a batch of token ids.

    Raises:
        InputError: an upload's own vocabulary lacks a word, or a typed id is no row of its token table.
    """
    batch = tokenizer(key).encode_batch(key.sentences, min(key.max_tokens, MAX_TOKENS))
    return batch if key.hidden is None else hide_word(batch, *key.hidden)


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
    check_budget(key.config, services().settings.max_parameters)
    check_kept(key.config, batch.ids.shape[1])
    with services().turns.take():
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
    """The run of one sentence, which no cache keeps: for many sentences, of each of which little is needed."""
    with turn_on_text(key) as (model, batch):
        return run(model, batch, key.sentence, **_options(key))


def prepare_run(key: RunKey, keep: Callable[[str], bool]) -> Callable[[], Run]:
    """A function that runs the sentence and keeps what `keep` says, in any thread: the model is found here and now.

    Both raise as `run_sentence`.
    """
    with turn_on_text(key) as (model, batch):
        pass

    def compute() -> Run:
        with services().turns.take():
            return run(model, batch, key.sentence, keep=keep, **_options(key))

    return compute


@cache_by_weights
def thumbnails(key: RunKey, *, hide_special: bool) -> Array:
    """Every head's weights, shrunk, with or without special tokens; raises as `run_sentence`."""
    computed = run_sentence(key)
    patterns = computed.patterns()
    if hide_special:
        patterns = patterns[:, :, ~computed.special][..., ~computed.special]
    return weights.shrink(patterns)


@cache_by_weights
def trace_layer(key: RunKey, layer: int) -> LayerRun:
    """Run one sentence and keep all of one layer; raises as `run_sentence`."""
    with turn_on_text(key) as (model, batch):
        return trace(model, batch, key.sentence, layer, **_options(key))


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
        device = services().device
        return services().random_weights.find(
            CacheKey(Encoder, (config, seed)), lambda: Encoder(config, seed).requires_grad_(False).to(device)
        )
    if weights.startswith((AFTER, BEFORE)):
        return english_network(weights, config, seed).encoder
    if trained_slot.is_trained_network(weights):
        return trained_slot.network_on_device(weights).encoder
    return uploaded_files.uploaded_encoder(weights, config, seed)


def english_network(weights: str, config: ModelConfig, seed: int) -> EnglishNetwork:
    """The network of the small English with these weights, as `Setup.weights`.

    Raises:
        UnavailableError: it is not on this server any more.
    """
    is_before = weights.startswith(BEFORE)
    key = weights.removeprefix(BEFORE).removeprefix(AFTER)
    spec = next(each for each in (Spec(config, causal, seed) for causal in (False, True)) if each.key == key)
    networks = services().networks
    found = networks.initial(spec) if is_before else networks.find(spec)
    if found is None:
        raise UnavailableError("This encoder of the small English is not on the server any more.")
    return found


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
