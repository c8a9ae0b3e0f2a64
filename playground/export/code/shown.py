"""What a page shows, as far as a file has to make it again: tokens, weights, masks, and the numbers that come out."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from playground.config import ModelConfig
from playground.errors import InputError, PretrainedError
from playground.export.code.export import OwnWeights
from playground.limits import MAX_TOKENS
from playground.model import Encoder
from playground.runs.encoder_run import Run, run
from playground.text import Batch, Tokenizer, bpe, characters, split_sentences, words
from playground.weights import checkpoint

DEFAULT_TEXT = "The animal didn't cross the street because it was too tired."

SHOWN = 6
"""Numbers that are compared one by one, of the output and of a pattern."""


@dataclass(frozen=True)
class Place:
    """The place that a file looks at; all from 0."""

    layer: int = 0
    head: int = 0
    query: int = 0


FIRST = Place()


@dataclass(frozen=True)
class Expected:
    """Numbers that the written code has to give."""

    output: list[float]
    """The first of the first token's output."""
    pattern: list[float]
    """The first of one query's attention weights."""
    sums: list[float]
    """Weighted sums of all numbers: of the output, and of each layer's patterns."""


@dataclass(frozen=True)
class ShownEncoder:
    """An encoder and a sentence: T tokens, padding included."""

    config: ModelConfig
    seed: int
    weights: str
    """`random`, `minilm`, or `file` for `own_weights`."""
    tokenizer: str
    text: str
    tokens: tuple[str, ...]
    """Without padding."""
    ids: tuple[int, ...]
    """T of them; meaningless where the config has no token table."""
    n_cut: int
    """Tokens of the sentence that were cut off as it is too long."""
    causal: bool
    place: Place
    expected: Expected
    own_weights: OwnWeights | None = None

    @property
    def width(self) -> int:
        """T."""
        return len(self.ids)

    @property
    def n_padding(self) -> int:
        """Padding tokens after the sentence's own."""
        return self.width - len(self.tokens)


def show_encoder(
    config: ModelConfig,
    seed: int,
    text: str,
    tokenizer: str,
    weights: str,
    causal: bool,
    sentence: int,
    place: Place,
) -> ShownEncoder:
    """Run one sentence of a text as a page does; arguments and errors as of `export_config`."""
    if weights == "minilm":
        encoder, _ = checkpoint.load("minilm")
        tokenizer = "wordpiece"
        if config != encoder.config:
            raise InputError('The trained weights have a shape of their own: give PRESETS["minilm-l6"].config.')
    elif weights != "random":
        raise InputError(f"weights={weights!r} can't be written down; 'random' or 'minilm' can.")
    batch, _ = cut_text(config, text, tokenizer, sentence)
    if weights == "random":
        encoder = Encoder(config, seed)
    computed = run(encoder, batch, sentence, seed=seed, causal=causal, keep=is_compared)
    return of_run(
        computed, batch, sentence, seed=seed, weights=weights, tokenizer=tokenizer, causal=causal, place=place
    )


def is_compared(name: str) -> bool:
    """Whether a point of the trace is one whose numbers a file compares."""
    return name == "final" or name.endswith("attn.pattern")


def of_run(
    computed: Run,
    batch: Batch,
    sentence: int,
    *,
    seed: int,
    weights: str,
    tokenizer: str,
    causal: bool,
    place: Place,
    own_weights: OwnWeights | None = None,
) -> ShownEncoder:
    """What is written down of a run that is there already, whose arrays have `final` and every layer's pattern."""
    config = computed.config
    n_tokens = len(batch.tokens[sentence])
    if not n_tokens:
        raise InputError("This sentence has no token: there is nothing to write down.")
    place = Place(
        min(place.layer, config.n_layers - 1), min(place.head, config.n_heads - 1), min(place.query, n_tokens - 1)
    )
    output = computed.arrays["final"]
    patterns = [computed.arrays[f"layers.{layer}.attn.pattern"] for layer in range(config.n_layers)]
    refuse_infinite(output, *patterns)
    return ShownEncoder(
        config=config,
        seed=seed,
        weights=weights,
        tokenizer=tokenizer,
        text=batch.sentences[sentence],
        tokens=tuple(batch.tokens[sentence]),
        ids=tuple(batch.ids[sentence].tolist()),
        n_cut=batch.truncated[sentence],
        causal=causal,
        place=place,
        expected=Expected(
            output=output[0, :SHOWN].tolist(),
            pattern=patterns[place.layer][place.head, place.query, :SHOWN].tolist(),
            sums=[checksum(array) for array in (output, *patterns)],
        ),
        own_weights=own_weights,
    )


def cut_text(
    config: ModelConfig, text: str, tokenizer: str, sentence: int, *, of_table: bool = True
) -> tuple[Batch, int]:
    """A text's batch as pages make it, and the tokenizer's number of tokens, which the config's table has to hold.

    Raises:
        InputError: there is no such sentence or tokenizer, or they do not fit the config's token table.
    """
    sentences = split_sentences(text).sentences
    if not 0 <= sentence < len(sentences):
        raise InputError(f"The text has {len(sentences)} sentences; sentence={sentence} is none of them.")
    cutter = _tokenizer(tokenizer, config, sentences)
    if of_table:
        _check_table(config, tokenizer, cutter)
    longest = min(config.max_len, MAX_TOKENS) if config.has_position_table else MAX_TOKENS
    return cutter.encode_batch(sentences, longest), cutter.vocab_size


def refuse_infinite(*arrays: np.ndarray) -> None:
    """Raise InputError where a number is not finite."""
    if not all(np.isfinite(array).all() for array in arrays):
        raise InputError("The numbers of this model grow beyond what fp32 holds: there is nothing to compare with.")


def checksum(array: np.ndarray) -> float:
    """A sum of all numbers, each with a weight of its own from 1 to 3, as the written code computes it."""
    weights = 2 + np.cos(np.arange(array.size, dtype=np.float32)).astype(np.float64)
    return float(array.astype(np.float64).ravel() @ weights / np.sqrt(array.size))


def _tokenizer(name: str, config: ModelConfig, sentences: Sequence[str]) -> Tokenizer:
    if name in ("word", "vectors"):
        return words(sentences)
    if name == "char":
        return characters()
    if name == "bpe":
        return bpe(config.vocab_size)
    if name == "wordpiece":
        folder = checkpoint.minilm_path()
        if folder is None:
            raise PretrainedError(f"The trained tokenizer is not on this machine; {checkpoint.HOW_TO_GET_MINILM}.")
        return checkpoint.read_minilm_tokenizer(folder)
    raise InputError(f"tokenizer={name!r} is unknown; word, char, bpe, wordpiece or vectors would work.")


def _check_table(config: ModelConfig, name: str, cutter: Tokenizer) -> None:
    if 0 < config.vocab_size < cutter.vocab_size:
        raise InputError(
            f"The tokenizer {name} makes {cutter.vocab_size:,} different tokens, and the token table has "
            f"vocab_size={config.vocab_size:,} rows; {cutter.vocab_size:,} would work."
        )
    if (config.vocab_size == 0) != (name == "vectors"):
        works = "'vectors'" if config.vocab_size == 0 else "a config with vocab_size=0"
        raise InputError(f"tokenizer={name!r} does not go with vocab_size={config.vocab_size:,}; {works} would work.")
