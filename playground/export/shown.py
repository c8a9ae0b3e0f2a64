"""What a page shows and a file makes again: tokens, weights, masks, and the numbers that come out."""

from dataclasses import dataclass

import numpy as np

from playground.config import ModelConfig
from playground.errors import InputError
from playground.export.written import OwnWeights
from playground.limits import MAX_TOKENS
from playground.model import Encoder
from playground.runs.encoder_run import Run, run
from playground.text import Batch, build_tokenizer, split_sentences
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
    expected: dict[str, list[float]]
    """Numbers that the code has to give: the first of token 0's `output` and of one query's `pattern`, and weighted
    `sums` of the output and of each layer's patterns."""
    own_weights: OwnWeights | None = None


def show_encoder(
    config: ModelConfig,
    *,
    seed: int = 0,
    text: str = DEFAULT_TEXT,
    tokenizer: str = "word",
    weights: str = "random",
    causal: bool = False,
    sentence: int = 0,
    place: Place = FIRST,
) -> ShownEncoder:
    """Run one sentence of a text as a page does.

    Args:
        config: the architecture; its `vocab_size` has to hold the tokenizer's tokens, and is 0 for raw vectors.
        seed: of random weights, and of raw vectors.
        text: one sentence a line; they are padded to the same length, as on a page.
        tokenizer: `word`, `char`, `bpe`, or `vectors` if the config has no token table; the trained weights have their
            own.
        weights: `random`, or `minilm` for the trained encoder, whose config is `PRESETS["minilm-l6"].config`.
        causal: whether later tokens are hidden.
        sentence: which one the file is about, from 0.
        place: whose attention it prints.

    Raises:
        InputError: text, tokenizer, weights and config do not fit each other, or a number is not finite.
        PretrainedError: the trained weights are not on this machine.
        TooLargeError: the attention patterns are too many to keep.
    """
    sentences = split_sentences(text).sentences
    if not 0 <= sentence < len(sentences):
        raise InputError(f"The text has {len(sentences)} sentences; sentence={sentence} is none of them.")
    if weights == "minilm":
        encoder, cutter = checkpoint.load("minilm")
        tokenizer = "wordpiece"
        if config != encoder.config:
            raise InputError('The trained weights have a shape of their own: give PRESETS["minilm-l6"].config.')
    elif weights != "random" or tokenizer not in ("word", "char", "bpe", "vectors"):
        raise InputError(f"weights={weights!r} with tokenizer={tokenizer!r} can't be written down.")
    else:
        encoder = Encoder(config, seed)
        cutter = build_tokenizer("word" if tokenizer == "vectors" else tokenizer, config.vocab_size, sentences)
    if (config.vocab_size == 0) != (tokenizer == "vectors") or 0 < config.vocab_size < cutter.vocab_size:
        raise InputError(
            f"The tokenizer {tokenizer} makes {cutter.vocab_size:,} different tokens, which does not go with "
            f"vocab_size={config.vocab_size:,}."
        )
    longest = min(config.max_len, MAX_TOKENS) if config.has_position_table else MAX_TOKENS
    batch = cutter.encode_batch(sentences, longest)
    computed = run(encoder, batch, sentence, seed=seed, causal=causal, keep=is_compared)
    return of_run(
        computed, batch, sentence, seed=seed, weights=weights, tokenizer=tokenizer, causal=causal, place=place
    )


def is_compared(name: str) -> bool:
    """Return whether a file compares the numbers of this point of the trace."""
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
    """Return what is written down of a run whose arrays have `final` and every layer's pattern."""
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
        expected={
            "output": output[0, :SHOWN].tolist(),
            "pattern": patterns[place.layer][place.head, place.query, :SHOWN].tolist(),
            "sums": [_sum_weighted(array) for array in (output, *patterns)],
        },
        own_weights=own_weights,
    )


def refuse_infinite(*arrays: np.ndarray) -> None:
    """Raise InputError where a number is not finite."""
    if not all(np.isfinite(array).all() for array in arrays):
        raise InputError("The numbers of this model grow beyond what fp32 holds: there is nothing to compare with.")


def _sum_weighted(array: np.ndarray) -> float:
    """Return a sum of all numbers, each with its own weight from 1 to 3, as the written code computes it."""
    weights = 2 + np.cos(np.arange(array.size, dtype=np.float32)).astype(np.float64)
    return float(array.astype(np.float64).ravel() @ weights / np.sqrt(array.size))
