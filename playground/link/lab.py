"""The one way from a state to numbers: a `Lab` of a state, and the `Source` of its weights and kept results."""

from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from playground.accounting import count_parameters
from playground.config import ModelConfig
from playground.errors import InputError, PretrainedError, TooLargeError, UnavailableError
from playground.language.family import find_network
from playground.language.network import EnglishNetwork, Spec, untrained
from playground.language.text import english_tokenizer, hide_word
from playground.limits import MAX_TOKENS
from playground.link import english, query
from playground.link.changes import FittedChanges, MadeChange, fit_changes
from playground.link.query import drawn_rows
from playground.link.state import AFTER, BEFORE, TRANSLATOR, RunKey, State, TextKey, WeightsId
from playground.model import Encoder, EncoderDecoder
from playground.model.changes import Change
from playground.runs import encoder_run
from playground.runs.budget import MAX_PARAMETERS, check_pair_budget
from playground.runs.encoder_run import LayerRun, Run
from playground.text import Batch, Sentences, Tokenizer, build_tokenizer, characters
from playground.training.trained_network import TrainedNetwork, load_translator
from playground.weights import checkpoint
from playground.weights.store import NetworkStore, default_folder

P = ParamSpec("P")
R = TypeVar("R")

MOST_KEPT = 256
"""Results that a source of its own keeps before it forgets them."""


class Source:
    """Where tokenizers, weights and kept results are from: this machine alone.

    Args:
        max_parameters: of a model that is built here.
    """

    def __init__(self, max_parameters: int = MAX_PARAMETERS) -> None:
        self.max_parameters = max_parameters
        self._kept: dict[Hashable, Any] = {}

    def tokenizer(self, key: TextKey) -> Tokenizer:
        """The tokenizer of a text; raises PretrainedError where it is the checkpoint's, which is not here."""
        if key.tokenizer == "english":
            return english_tokenizer()
        if key.tokenizer == TRANSLATOR:
            return self.translator().tokenizer
        if key.tokenizer != "wordpiece":
            return build_tokenizer(key.tokenizer, key.vocab_size, key.sentences)
        folder = checkpoint.minilm_path()
        if folder is None:
            raise PretrainedError(checkpoint.HOW_TO_GET_MINILM)
        return checkpoint.read_minilm_tokenizer(folder)

    def encoder(self, weights: str, config: ModelConfig, seed: int) -> Encoder:
        """The encoder with these weights; raises UnavailableError, PretrainedError where they are not here."""
        return self.remember(Source.encoder, (weights, config, seed), lambda: self._build(weights, config, seed))

    def _build(self, weights: str, config: ModelConfig, seed: int) -> Encoder:
        if weights == "minilm":
            return checkpoint.load("minilm")[0]
        if weights.startswith((AFTER, BEFORE)):
            return self.english_network(weights, config, seed).encoder
        return Encoder(config, seed).requires_grad_(False)

    def english_network(self, weights: str, config: ModelConfig, seed: int) -> EnglishNetwork:
        """The network of the small English with these weights; raises UnavailableError where it is not here."""
        key = weights.removeprefix(BEFORE).removeprefix(AFTER)
        spec = next(each for each in (Spec(config, causal, seed) for causal in (False, True)) if each.key == key)
        found = self.find_english(spec, is_trained=not weights.startswith(BEFORE))
        if found is None:
            raise UnavailableError(
                "Nobody has trained this encoder of the small English here: "
                'load("english", …) of playground.pretrained trains it and keeps it.'
            )
        return found

    def find_english(self, spec: Spec, *, is_trained: bool) -> EnglishNetwork | None:
        """A network of the small English, if it is here."""
        return find_network(spec, NetworkStore(default_folder())) if is_trained else untrained(spec)

    def translator(self) -> TrainedNetwork:
        """The shipped translator; raises WeightsError where its file is missing or another."""
        return self.remember(load_translator, (), load_translator)

    def trained_pair(self, weights: str) -> EncoderDecoder | None:
        """The trained encoder–decoder with these weights; None where they are of no decoder."""
        network = self.translator().network if weights == TRANSLATOR else None
        return network if isinstance(network, EncoderDecoder) else None

    def random_pair(self, config: ModelConfig, n_words: int, seed: int) -> EncoderDecoder:
        """An encoder–decoder with random weights for so many target words; raises TooLargeError."""
        check_pair_budget(config, n_words, self.max_parameters)
        return EncoderDecoder(config, n_words, seed).requires_grad_(False)

    def check(self, config: ModelConfig, n_tokens: int) -> None:
        """Raise TooLargeError if a model, or its run of so many tokens, is too large; nothing is allocated."""
        n = count_parameters(config).total
        if n > self.max_parameters:
            raise TooLargeError(
                f"This model has {n:,} parameters, and at most {self.max_parameters:,} are built: it can be counted, "
                f"but not run; a larger max_parameters would build it."
            )

    def turn(self) -> AbstractContextManager[None]:
        """Context in which the caller may compute."""
        return nullcontext()

    def remember(self, function: Callable[..., Any], key: Hashable, compute: Callable[[], R]) -> R:
        """What a function computes of a key, computed where it is not kept; nobody may change it."""
        name = (function, key)
        if name not in self._kept:
            result = compute()
            if len(self._kept) >= MOST_KEPT:
                self._kept.clear()
            self._kept[name] = result
        found: R = self._kept[name]
        return found


@dataclass(frozen=True)
class Lab:
    """What a state computes. Everything large is kept by the source, and nothing of it here."""

    state: State
    source: Source = field(compare=False, repr=False)

    def __getitem__(self, key: str) -> Any:
        return self.state.values[key]

    @property
    def values(self) -> Mapping[str, Any]:
        """The link's parameters that all pages share."""
        return self.state.values

    @property
    def text(self) -> Sentences:
        """The typed text as sentences."""
        return self.state.text

    @property
    def sentence(self) -> int:
        """The sentence to look at, from 0."""
        return self.state.sentence

    @property
    def weights(self) -> WeightsId:
        """The name of its weights."""
        return self.state.weights

    @property
    def text_key(self) -> TextKey:
        """What the tokens depend on; there has to be a sentence."""
        return self.state.text_key

    @property
    def tokenizer(self) -> Tokenizer:
        """What cuts the text into tokens."""
        return self.source.tokenizer(self.state.text_key)

    @property
    def batch(self) -> Batch:
        """The tokens of all sentences; there has to be one.

        Raises:
            InputError: the tokenizer lacks a word, or a typed id is no row of the token table.
        """
        return read_text(self.source, self.state.text_key)

    @cached_property
    def config(self) -> ModelConfig:
        """The architecture, with the rows of its token table."""
        if self.state.is_english:
            return english.spec_of(self.values).config
        return query.model_config(self.values, self.state.own_rows or self.random_table_rows)

    @property
    def random_table_rows(self) -> int:
        """Rows of a token table that is drawn for the tokenizer; 0 where the words are vectors themselves."""
        if self.state.takes_vectors:
            return 0
        return drawn_rows(self.values, self.tokenizer.vocab_size, is_random=self.state.weights == "random")

    @property
    def encoder(self) -> Encoder:
        """The encoder with its weights; raises as `run`."""
        self.source.check(self.config, 1)
        return self.source.encoder(self.state.weights, self.config, self["seed"])

    @property
    def changes(self) -> tuple[MadeChange, ...]:
        """The changes of the computation that were made, switched on or off."""
        made: tuple[MadeChange, ...] = self["do"].made
        return made

    @property
    def switched_on(self) -> frozenset[Change]:
        """Those that are on, whether the sentence's run can have them or not."""
        return frozenset(made.change for made in self.changes if made.is_on)

    @cached_property
    def fitted_changes(self) -> FittedChanges:
        """Those that are on, divided by whether the sentence's run can have them; there has to be a sentence."""
        return self.fit_changes(self.sentence)

    def fit_changes(self, sentence: int) -> FittedChanges:
        """The changes that are on, divided by whether the run of a sentence, from 0, can have them.

        What names a token is made in the chosen sentence alone.
        """
        changes = [each for each in self.changes if sentence == self.sentence or each.change.names_no_token]
        if not any(change.is_on for change in changes):
            return FittedChanges()
        return fit_changes(changes, self.config, self.batch, sentence, causal=self["causal"])

    @cached_property
    def untouched_key(self) -> RunKey:
        """What the run of the sentence depends on that nothing changes."""
        return RunKey(self.state.text_key, self.sentence, self.state.weights, self.config, self["seed"], self["causal"])

    @property
    def run_key(self) -> RunKey:
        """What the run of the sentence depends on, with the changes that it can have."""
        return self.untouched_key._replace(interventions=self.fitted_changes.applied)

    @property
    def run(self) -> Run:
        """The sentence's forward pass, with its changes.

        Raises:
            TooLargeError: the model, or what a run keeps, is too large.
            InputError: the sentence is longer than the position table, or has tokens that the token table has not.
            UnavailableError, PretrainedError: the weights are not here.
        """
        return run_sentence(self.source, self.run_key)

    def key_of(self, sentence: int) -> RunKey:
        """What the run of one of the text's sentences, from 0, depends on."""
        return self.untouched_key._replace(sentence=sentence, interventions=self.fit_changes(sentence).applied)

    def run_of(self, sentence: int) -> Run:
        """The forward pass of one of the text's sentences, from 0; raises as `run`."""
        return run_sentence(self.source, self.key_of(sentence))

    def layer(self, layer: int) -> LayerRun:
        """The run with everything that one layer computes; raises as `run`."""
        return trace_layer(self.source, self.run_key, layer)

    @property
    def options(self) -> dict[str, Any]:
        """What a pass through the encoder is called with: seed, mask, changes."""
        return {"seed": self["seed"], "causal": self["causal"], "interventions": self.fitted_changes.applied}

    def at(self, state: State) -> "Lab":
        """The lab of another state, of the same source."""
        return replace(self, state=state)

    @property
    def without_changes(self) -> "Lab":
        """The lab of the state in which nothing changes the computation."""
        return self.at(self.state.without_changes)


def once(function: Callable[Concatenate[Lab, P], R]) -> Callable[Concatenate[Lab, P], R]:
    """Decorator for what is computed of a lab's run, and of arguments that can be hashed: once, and in a turn."""

    @wraps(function)
    def find(lab: Lab, /, *args: P.args, **kwargs: P.kwargs) -> R:
        def compute() -> R:
            with lab.source.turn():
                return function(lab, *args, **kwargs)

        return lab.source.remember(function, (lab.run_key, args, *kwargs.items()), compute)

    return find


def read_text(source: Source, key: TextKey) -> Batch:
    """The tokens of a text; raises as `Lab.batch`."""

    def compute() -> Batch:
        batch = source.tokenizer(key).encode_batch(key.sentences, min(key.max_tokens, MAX_TOKENS))
        return batch if key.hidden is None else hide_word(batch, *key.hidden)

    return source.remember(read_text, key, compute)


def run_sentence(source: Source, key: RunKey) -> Run:
    """The run of one sentence; raises as `Lab.run`."""
    return source.remember(run_sentence, key, lambda: compute_run(source, key))


def compute_run(source: Source, key: RunKey) -> Run:
    """The run of one sentence, which nothing keeps: for many sentences, of each of which little is needed."""
    with turn_on_text(source, key) as (encoder, batch):
        return encoder_run.run(encoder, batch, key.sentence, **pass_options(key))


def trace_layer(source: Source, key: RunKey, layer: int) -> LayerRun:
    """The run of one sentence with all of one layer; raises as `Lab.run`."""

    def compute() -> LayerRun:
        with turn_on_text(source, key) as (encoder, batch):
            return encoder_run.trace_layer(encoder, batch, key.sentence, layer, **pass_options(key))

    return source.remember(trace_layer, (key, layer), compute)


def pass_options(key: RunKey) -> dict[str, Any]:
    """What a pass through the encoder is called with."""
    return {"seed": key.seed, "causal": key.causal, "interventions": key.interventions}


@contextmanager
def turn_on_text(source: Source, key: RunKey) -> Iterator[tuple[Encoder, Batch]]:
    """Context to compute in with the encoder and the tokens of a key; raises as `Lab.run`."""
    n, rows = source.tokenizer(key.text).vocab_size, key.config.vocab_size
    if 0 < rows < n:
        n_characters = characters().vocab_size
        also = f" or char ({n_characters} tokens)" if n_characters <= rows else ""
        raise InputError(
            f"The tokenizer {key.text.tokenizer} makes {n:,} different tokens of this, and your file's token table has "
            f"{rows:,} rows: the tokenizer word with at most {rows:,} different words{also} fits."
        )
    batch = read_text(source, key.text)
    source.check(key.config, batch.ids.shape[1])
    with source.turn():
        yield source.encoder(key.weights, key.config, key.seed), batch
