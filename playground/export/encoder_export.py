"""An encoder and a sentence, as a Python file or as a notebook."""

from playground.config import ModelConfig
from playground.export.export import Export
from playground.export.sections import encoder_sections, exercise_sections
from playground.export.shown import DEFAULT_TEXT, FIRST, Place, ShownEncoder, show_encoder


def as_python(
    config: ModelConfig,
    *,
    seed: int = 0,
    text: str = DEFAULT_TEXT,
    tokenizer: str = "word",
    weights: str = "random",
    causal: bool = False,
    sentence: int = 0,
    place: Place = FIRST,
) -> str:
    """A Python file with this encoder and sentence alone, which ends in an assertion of the numbers that a page shows.

    It needs torch; numpy too where words are raw vectors, and tokenizers and safetensors for the trained weights. It
    is formatted as ruff formats, and each parameter and class has the name that it has in `playground.model`.

    Args:
        config: the architecture; its `vocab_size` has to hold the tokenizer's tokens, and is 0 for raw vectors.
        seed: of random weights, and of raw vectors.
        text: one sentence a line; they are padded to the same length, as on a page.
        tokenizer: `word`, `char`, `bpe`, `wordpiece`, or `vectors` where the config has no token table; the trained
            weights have their own.
        weights: `random`, or `minilm` for the trained encoder, whose config is `PRESETS["minilm-l6"].config`.
        causal: whether later tokens are hidden.
        sentence: which one the file is about, from 0.
        place: whose attention it prints.

    Raises:
        InputError: text, tokenizer, weights and config do not fit each other, or a number is not finite.
        PretrainedError: the trained weights are not on this machine.
        TooLargeError: the attention patterns are too many to keep.
    """
    return export_encoder(show_encoder(config, seed, text, tokenizer, weights, causal, sentence, place)).python()


def as_notebook(
    config: ModelConfig,
    *,
    seed: int = 0,
    text: str = DEFAULT_TEXT,
    tokenizer: str = "word",
    weights: str = "random",
    causal: bool = False,
    sentence: int = 0,
    place: Place = FIRST,
) -> str:
    """The same as a notebook, the text of an `.ipynb` file (nbformat 4.5), with exercises at its end.

    Each section of the file is a cell with its explanation; arguments and errors as of `as_python`.
    """
    return export_encoder(show_encoder(config, seed, text, tokenizer, weights, causal, sentence, place)).notebook()


def export_encoder(shown: ShownEncoder) -> Export:
    """The sections of an encoder and its sentence, and tutorial D's exercises on it."""
    return Export("encoder", _describe(shown), encoder_sections(shown), exercise_sections(shown))


def _describe(shown: ShownEncoder) -> str:
    """One line on what is written down, at most 110 characters."""
    config = shown.config
    weights = "trained weights" if shown.weights == "minilm" else f"random weights of seed {shown.seed}"
    layers = "1 layer" if config.n_layers == 1 else f"{config.n_layers} layers"
    heads = "1 head" if config.n_heads == 1 else f"{config.n_heads} heads"
    return f"A transformer encoder: {layers}, {heads}, d_model {config.d_model}, {weights}."
