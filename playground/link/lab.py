"""From a state to numbers: `Lab`; and the `Source` of its weights and kept results."""

from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

from playground.analysis.streams import logit_lens
from playground.config import ModelConfig
from playground.errors import InputError, PretrainedError, UnavailableError
from playground.language import answers
from playground.language.family import find_network
from playground.language.network import EnglishNetwork, Spec, untrained
from playground.language.text import IDS, MASK_ID, english_tokenizer, hide_word
from playground.limits import MAX_TOKENS
from playground.link import params
from playground.link.kinds import Changes, MadeChange
from playground.link.state import AFTER, BEFORE, RANDOM, TRANSLATOR, Owner, RunKey, State, TextKey, WeightsId
from playground.model import Encoder, EncoderDecoder
from playground.model.changes import Change
from playground.model.interventions import divide_changes
from playground.runs import encoder_run, pair_run
from playground.runs.arrays import Array
from playground.runs.budget import MAX_PARAMETERS, check_budget, check_pair_budget
from playground.runs.encoder_run import LayerRun, Run, intervention_subject
from playground.runs.pair_run import PairRun
from playground.text import Batch, Sentences, Tokenizer, build_tokenizer, split_sentences
from playground.training.network import write_targets
from playground.training.recipe import BOS
from playground.training.tasks.symbol_tasks import split_words
from playground.training.trained_network import TrainedNetwork, load_translator
from playground.weights import checkpoint
from playground.weights.store import NetworkStore, default_folder

P = ParamSpec("P")
R = TypeVar("R")

MOST_KEPT = 256


class Source:
    """Tokenizers, weights and kept results of this machine, for models of at most `max_parameters`."""

    def __init__(self, max_parameters: int = MAX_PARAMETERS) -> None:
        self.max_parameters = max_parameters
        self._kept: dict[Hashable, Any] = {}

    def tokenizer(self, key: TextKey) -> Tokenizer:
        """Return a text's tokenizer; raises PretrainedError."""
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
        """Return the encoder with these weights; raises UnavailableError, PretrainedError."""
        return self.remember(Source.encoder, (weights, config, seed), lambda: self._build(weights, config, seed))

    def _build(self, weights: str, config: ModelConfig, seed: int) -> Encoder:
        if weights == "minilm":
            return checkpoint.load("minilm")[0]
        if weights.startswith((AFTER, BEFORE)):
            return self.english_network(weights, config, seed).encoder
        return Encoder(config, seed).requires_grad_(False)

    def english_network(self, weights: str, config: ModelConfig, seed: int) -> EnglishNetwork:
        """Return the network of the small English with these weights; raises UnavailableError."""
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
        """Return a network of the small English, if it is here."""
        return find_network(spec, NetworkStore(default_folder())) if is_trained else untrained(spec)

    def translator(self) -> TrainedNetwork:
        """Return the shipped translator; raises WeightsError."""
        return self.remember(load_translator, (), load_translator)

    def trained_pair(self, weights: str) -> EncoderDecoder | None:
        """Return the trained encoder–decoder with these weights, if they are of one."""
        network = self.translator().network if weights == TRANSLATOR else None
        return network if isinstance(network, EncoderDecoder) else None

    def random_pair(self, config: ModelConfig, n_words: int, seed: int) -> EncoderDecoder:
        """Return an encoder–decoder with random weights for so many target words; raises TooLargeError."""
        check_pair_budget(config, n_words, self.max_parameters)
        return EncoderDecoder(config, n_words, seed).requires_grad_(False)

    def check(self, config: ModelConfig, n_tokens: int) -> None:
        """Raise TooLargeError if a model, or its run of so many tokens, is too large."""
        check_budget(config, self.max_parameters)

    def turn(self) -> AbstractContextManager[None]:
        """Return the context to compute in."""
        return nullcontext()

    def remember(self, function: Callable[..., Any], key: Hashable, compute: Callable[[], R]) -> R:
        """Return what a function computes of a key, once; nobody may change it."""
        name = (function, key)
        if name not in self._kept:
            result = compute()
            if len(self._kept) >= MOST_KEPT:
                self._kept.clear()
            self._kept[name] = result
        found: R = self._kept[name]
        return found


class FittedChanges(NamedTuple):
    """The changes that are switched on, divided by whether the run can have them."""

    applied: tuple[Change, ...] = ()
    reasons: Mapping[Change, str] = {}
    """Of those that cannot apply: why not, in one sentence each."""


@dataclass(frozen=True)
class Lab:
    """What a state computes; the source keeps everything large."""

    state: State
    source: Source = field(compare=False, repr=False)

    def __getitem__(self, key: str) -> Any:
        return self.state.values[key]

    @cached_property
    def values(self) -> Mapping[str, Any]:
        """The shared parameters."""
        return self.state.values

    @cached_property
    def text(self) -> Sentences:
        """The sentences."""
        return self.state.text

    @cached_property
    def sentence(self) -> int:
        """The sentence to look at, from 0."""
        return self.state.sentence

    @cached_property
    def weights(self) -> WeightsId:
        """The name of its weights."""
        return self.state.weights

    @cached_property
    def text_key(self) -> TextKey:
        """What the tokens depend on."""
        return self.state.text_key

    @property
    def tokenizer(self) -> Tokenizer:
        """What cuts the text into tokens."""
        return self.source.tokenizer(self.state.text_key)

    @property
    def batch(self) -> Batch:
        """The tokens of all sentences, of which there is one at least; raises InputError."""
        return read_text(self.source, self.state.text_key)

    @cached_property
    def config(self) -> ModelConfig:
        """The architecture, with the rows of its token table."""
        if self.state.is_english:
            return params.spec_of(self.values).config
        return params.model_config(self.values, self.state.own_rows or self.random_table_rows)

    @property
    def random_table_rows(self) -> int:
        """Rows of a token table that is drawn for the tokenizer; 0 if words are vectors."""
        if self.state.takes_vectors:
            return 0
        return max(self.tokenizer.vocab_size, self["table_rows"] if self.weights == "random" else 0)

    @property
    def encoder(self) -> Encoder:
        """The encoder with its weights; raises as `run`."""
        self.source.check(self.config, 1)
        return self.source.encoder(self.state.weights, self.config, self["seed"])

    @property
    def changes(self) -> tuple[MadeChange, ...]:
        """The visitor's changes of the computation."""
        made: tuple[MadeChange, ...] = self["do"].made
        return made

    @property
    def switched_on(self) -> frozenset[Change]:
        """The changes that are on."""
        return frozenset(made.change for made in self.changes if made.is_on)

    @cached_property
    def fitted_changes(self) -> FittedChanges:
        """The changes that are on, divided by whether the sentence's run can have them."""
        return self.fit_changes(self.sentence)

    def fit_changes(self, sentence: int) -> FittedChanges:
        """Return `fitted_changes` of a sentence, from 0; what names a token is made in the chosen one alone.

        Of two that exclude each other the first applies.
        """
        is_chosen = sentence == self.sentence
        changes = tuple(each for each, is_on in self.changes if is_on and (is_chosen or each.names_no_token))
        if not changes:
            return FittedChanges()
        subject = intervention_subject(self.config, self.batch, sentence, causal=self["causal"])
        applied, refused = divide_changes(subject, changes)
        return FittedChanges(applied, dict(refused))

    @cached_property
    def untouched_key(self) -> RunKey:
        """The key of the sentence's run without changes."""
        return RunKey(self.state.text_key, self.sentence, self.state.weights, self.config, self["seed"], self["causal"])

    @cached_property
    def run_key(self) -> RunKey:
        """The key of the sentence's run."""
        return self.untouched_key._replace(interventions=self.fitted_changes.applied)

    @cached_property
    def run(self) -> Run:
        """The sentence's forward pass, with its changes.

        Raises:
            TooLargeError: the model or its run is too large.
            InputError: the sentence is too long, or the token table lacks a token.
            UnavailableError, PretrainedError: the weights are not here.
        """
        return run_sentence(self.source, self.run_key)

    def key_of(self, sentence: int) -> RunKey:
        """Return the key of the run of a sentence, from 0."""
        return self.untouched_key._replace(sentence=sentence, interventions=self.fit_changes(sentence).applied)

    def layer(self, layer: int) -> LayerRun:
        """Return the run with everything that one layer computes; raises as `run`."""
        return trace_layer(self.source, self.run_key, layer)

    def at(self, state: State) -> "Lab":
        """Return the lab of another state."""
        return replace(self, state=state)

    @property
    def without_changes(self) -> "Lab":
        """The lab in which nothing changes the computation."""
        return self.at(self.state.with_changes(Changes()))


def once(function: Callable[Concatenate[Lab, P], R]) -> Callable[Concatenate[Lab, P], R]:
    """Compute a function of a lab's run, and of arguments that can be hashed, once: a decorator."""

    @wraps(function)
    def find(lab: Lab, /, *args: P.args, **kwargs: P.kwargs) -> R:
        def compute() -> R:
            with lab.source.turn():
                return function(lab, *args, **kwargs)

        return lab.source.remember(function, (lab.run_key, args, *kwargs.items()), compute)

    return find


def read_text(source: Source, key: TextKey) -> Batch:
    """Return the tokens of a text; raises as `Lab.batch`."""

    def compute() -> Batch:
        batch = source.tokenizer(key).encode_batch(key.sentences, min(key.max_tokens, MAX_TOKENS))
        return batch if key.hidden is None else hide_word(batch, *key.hidden)

    return source.remember(read_text, key, compute)


def run_sentence(source: Source, key: RunKey) -> Run:
    """Return the run of a sentence; raises as `Lab.run`."""
    return source.remember(run_sentence, key, lambda: compute_run(source, key))


def compute_run(source: Source, key: RunKey) -> Run:
    """Return the run of a sentence, which nothing keeps."""
    with turn_on_text(source, key) as (encoder, batch):
        return encoder_run.run(encoder, batch, key.sentence, **pass_options(key))


def trace_layer(source: Source, key: RunKey, layer: int) -> LayerRun:
    """Return the run of a sentence with all of one layer; raises as `Lab.run`."""

    def compute() -> LayerRun:
        with turn_on_text(source, key) as (encoder, batch):
            return encoder_run.trace_layer(encoder, batch, key.sentence, layer, **pass_options(key))

    return source.remember(trace_layer, (key, layer), compute)


def pass_options(key: RunKey) -> dict[str, Any]:
    """Return what a pass through the encoder is called with."""
    return {"seed": key.seed, "causal": key.causal, "interventions": key.interventions}


@contextmanager
def turn_on_text(source: Source, key: RunKey) -> Iterator[tuple[Encoder, Batch]]:
    """Return a context to compute in, with the encoder and the tokens of a key; raises as `Lab.run`."""
    n, rows = source.tokenizer(key.text).vocab_size, key.config.vocab_size
    if 0 < rows < n:
        raise InputError(
            f"The tokenizer {key.text.tokenizer} makes {n:,} different tokens of this, and your file's token table has "
            f"{rows:,} rows: the tokenizer word with at most {rows:,} different words fits."
        )
    batch = read_text(source, key.text)
    source.check(key.config, batch.ids.shape[1])
    with source.turn():
        yield source.encoder(key.weights, key.config, key.seed), batch


# --- the hidden word of a sentence of the small English


def hidden_word(lab: Lab) -> tuple[int, str] | None:
    """Return the first mask's place and word, empty if unknown; None if nothing can be filled in."""
    if not lab.weights.startswith((AFTER, BEFORE)):
        return None
    places = (lab.batch.ids[lab.sentence] == MASK_ID).nonzero().flatten().tolist()
    if not places:
        return None
    word = read_text(lab.source, replace(lab.text_key, hidden=None)).tokens[lab.sentence][places[0]]
    return places[0], word if IDS.get(word, MASK_ID) > MASK_ID else ""


@once
def fill_in(lab: Lab) -> Array:
    """Return every word's probability at every depth, (layers + 1, words); InputError if none is hidden."""
    network, place, _ = _network_and_hidden(lab)
    return logit_lens(lab.run, place, network.encoder, network.network.head)


@once
def head_costs(lab: Lab, word: str) -> Array:
    """Return the probability that a word loses without each head, (layers, heads); raises as `fill_in`."""
    network, place, _ = _network_and_hidden(lab)
    return answers.head_costs(network.network, lab.batch, lab.sentence, place, IDS[word], causal=lab["causal"])


def score_hidden(lab: Lab, final: Array) -> Array:
    """Return the hidden word's probability from the encoder's output: (N, T, D) → (N,); raises as `fill_in`."""
    network, place, word = _network_and_hidden(lab)
    if not word:
        raise InputError("The word below [MASK] is not known: write it, and let `mask` hide its position.")
    return answers.score_word(network.network, final, place, IDS[word])


def _network_and_hidden(lab: Lab) -> tuple[EnglishNetwork, int, str]:
    if not lab.weights.startswith((AFTER, BEFORE)):
        raise InputError('These weights have no head that names words: weights="english" has one.')
    hidden = hidden_word(lab)
    if hidden is None:
        raise InputError("No word is hidden: write [MASK] in its place, or let `mask` hide its position.")
    return lab.source.english_network(lab.weights, lab.config, lab["seed"]), *hidden


# --- the pairs of sentences of the page Encoder-decoder


class PairKey(NamedTuple):
    """What the run of a source sentence and a target line depends on."""

    source: TextKey
    sentence: int
    """Counted from 0, as `line`."""
    target: TextKey
    line: int
    weights: WeightsId
    """`random`, `translator`, or a trained encoder–decoder's, before or after training."""
    config: ModelConfig
    seed: int

    def owner(self) -> Owner:
        """Return who may see the run."""
        return self.weights.owner()


def find_pair(lab: Lab, values: Mapping[str, Any]) -> PairKey:
    """Return the trained example, or the text and its target line; raises InputError, WeightsError."""
    if values["encdec_source"] == "trained example":
        return _find_example(lab.source, values["encdec_example"])
    lines = split_sentences(values["encdec_target"]).sentences
    if not lines:
        raise InputError("Type a target: the decoder needs at least one token to go on from.")
    text, weights = lab.text_key, RANDOM
    if lab.source.trained_pair(lab.weights) is not None:
        weights = lab.weights
        lines = _fit_to_decoder(lab, lines)
    config = replace(lab.config, vocab_size=lab.tokenizer.vocab_size)
    line = min(lab.sentence, len(lines) - 1)
    return PairKey(text, lab.sentence, replace(text, sentences=lines), line, weights, config, lab["seed"])


def _find_example(source: Source, sentence: str) -> PairKey:
    """Return an English sentence and what the translator writes."""
    words, translator = split_words(sentence), source.translator()
    if not words:
        raise InputError("Type an English sentence: the encoder needs at least one word.")
    longest = translator.config.max_len
    text = TextKey(TRANSLATOR, 0, longest - 1, (" ".join(words),))
    (line,) = write_lines(source, TRANSLATOR, text, longest)
    target = replace(text, max_tokens=longest, sentences=(f"{BOS} {line}",))
    return PairKey(text, 0, target, 0, TRANSLATOR, translator.config, translator.recipe.seed)


def _fit_to_decoder(lab: Lab, lines: tuple[str, ...]) -> tuple[str, ...]:
    """Return the target after [BOS], as a trained decoder reads it; its own output if it knows no token of it."""
    if all(all(row) for row in read_text(lab.source, replace(lab.text_key, sentences=lines)).unknown):
        lines = write_lines(lab.source, lab.weights, lab.text_key, lab["max_len"])
    return tuple(line if line.split()[:1] == [BOS] else f"{BOS} {line}" for line in lines)


def write_lines(source: Source, weights: WeightsId, text: TextKey, max_len: int) -> tuple[str, ...]:
    """Return a trained encoder–decoder's answer to each sentence: the likeliest token at every step.

    Raises as `Lab.run`.
    """

    def compute() -> tuple[str, ...]:
        model = source.trained_pair(weights)
        if model is None:
            raise InputError("An encoder alone has no decoder.")
        batch, vocabulary = read_text(source, text), source.tokenizer(text)
        with source.turn():
            return write_targets(model, vocabulary, batch, min(max_len, MAX_TOKENS) - 1)

    return source.remember(write_lines, (weights, text, max_len), compute)


def run_pair(source: Source, key: PairKey) -> PairRun:
    """Return the run of a pair; raises as `Lab.run`."""

    def compute() -> PairRun:
        batches = read_text(source, key.source), read_text(source, key.target)
        n_words = source.tokenizer(key.target).vocab_size
        with source.turn():
            model = source.trained_pair(key.weights) or source.random_pair(key.config, n_words, key.seed)
            return pair_run.run_pair(model, *batches, key.sentence, key.line)

    return source.remember(run_pair, key, compute)
