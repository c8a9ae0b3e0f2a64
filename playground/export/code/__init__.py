"""Code that runs without the playground and ends in the page's own numbers: a Python file or a notebook.

A page writes what it shows; the package writes what follows from a configuration and a text.
"""

from typing import Any

from playground.config import ModelConfig
from playground.errors import InputError
from playground.export.code.export import Export
from playground.export.code.model_export import export_encoder, export_pair, show_pair
from playground.export.code.shown import DEFAULT_TEXT, FIRST, Place, show_encoder
from playground.export.code.training_export import export_training
from playground.training.recipe import Recipe


def as_python(config: ModelConfig, **options: Any) -> str:
    """A Python file with this encoder and sentence alone, which ends in an assertion of the numbers that a page shows.

    It needs torch; numpy too where words are raw vectors, and tokenizers and safetensors for the trained weights. It
    is formatted as ruff formats, and each parameter and class has the name that it has in `playground.model`.

    Options and errors as of `export_config`.
    """
    return export_config(config, **options).python()


def as_notebook(config: ModelConfig, **options: Any) -> str:
    """The configuration as a notebook, the text of an `.ipynb` file (nbformat 4.5), with exercises at its end.

    Each section of the file is a cell with its explanation. Options and errors as of `export_config`.
    """
    return export_config(config, **options).notebook()


def export_config(
    config: ModelConfig,
    *,
    seed: int = 0,
    text: str = DEFAULT_TEXT,
    tokenizer: str = "word",
    weights: str = "random",
    causal: bool = False,
    sentence: int = 0,
    place: Place = FIRST,
    target: str | None = None,
    recipe: Recipe | None = None,
) -> Export:
    """The sections of a configuration's file.

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
        target: makes it an encoder–decoder, with random weights, that reads this text, a line for each sentence, in its
            decoder.
        recipe: makes it a training run, with the task's data and vocabulary and the recipe's seed; text, tokenizer,
            weights and masks are the task's then.

    Raises:
        InputError: text, tokenizer, weights and config do not fit each other, or a number is not finite.
        PretrainedError: the trained weights are not on this machine.
        RecipeError: the recipe's task or a regulariser of it can't be written down.
        TooLargeError: the attention patterns are too many to keep.
    """
    if recipe is not None:
        return export_training(config, recipe)
    if target is None:
        return export_encoder(show_encoder(config, seed, text, tokenizer, weights, causal, sentence, place))
    if weights != "random" or causal:
        raise InputError("An encoder–decoder has random weights here, and its encoder sees its whole source.")
    return export_pair(show_pair(config, seed, text, target, tokenizer, sentence, place))
