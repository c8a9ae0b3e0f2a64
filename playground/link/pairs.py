"""The pairs of sentences of the page Encoder-decoder: which one a link or a session looks at, and its run."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from playground.config import ModelConfig
from playground.errors import InputError
from playground.limits import MAX_TOKENS
from playground.link.lab import Lab, Source, read_text
from playground.link.state import RANDOM, TRANSLATOR, Owner, TextKey, WeightsId
from playground.runs import pair_run
from playground.runs.pair_run import PairRun
from playground.text import split_sentences
from playground.training.network import write_targets
from playground.training.recipe import BOS
from playground.training.tasks.symbol_tasks import split_words


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

    def owner(self) -> Owner:
        """Who may see the run."""
        return self.weights.owner()


def find_pair(lab: Lab, values: Mapping[str, Any]) -> PairKey:
    """Return the trained example, or the text and its target line.

    Raises:
        InputError: the example or the target has no word.
        WeightsError, UnavailableError: the example's network is missing.
    """
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

    Raises:
        BusyError: no turn came free.
        UnavailableError: this session has no such network.
        InputError: a sentence is longer than the position table.
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
    """Return the run of a pair.

    Raises:
        TooLargeError: the model or the texts are too large.
        BusyError: no turn came free.
        InputError: a tokenizer has no word for the target, or a sentence is longer than the position table.
    """

    def compute() -> PairRun:
        batches = read_text(source, key.source), read_text(source, key.target)
        n_words = source.tokenizer(key.target).vocab_size
        with source.turn():
            model = source.trained_pair(key.weights) or source.random_pair(key.config, n_words, key.seed)
            return pair_run.run_pair(model, *batches, key.sentence, key.line)

    return source.remember(run_pair, key, compute)
