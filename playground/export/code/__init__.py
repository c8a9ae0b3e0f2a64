"""Code that ends in the page's own numbers: a Python file or a notebook. An encoder's needs no playground.

A page writes what it shows; the package writes what follows from a configuration and a text.
"""

from typing import Any

from playground.config import ModelConfig
from playground.errors import InputError
from playground.export.code.export import Export
from playground.export.code.model_export import export_encoder, export_pair
from playground.export.code.shown import DEFAULT_TEXT, FIRST, Place, cut_text, show_encoder
from playground.export.code.training_export import export_training
from playground.model import EncoderDecoder
from playground.runs.pair_run import run_pair
from playground.text import split_sentences
from playground.training.recipe import Recipe


def as_python(config: ModelConfig, **options: Any) -> str:
    """A Python file with this encoder and sentence alone, which ends in an assertion of the numbers that a page shows.

    An encoder's needs torch; numpy too if words are raw vectors, and tokenizers and safetensors for the trained
    weights. Each parameter and class has the name that it has in `playground.model`. An encoder–decoder's and a
    training run's need the playground's package. All are formatted as ruff formats.

    Options and errors as of `export_config`.
    """
    return export_config(config, **options).python()


def as_notebook(config: ModelConfig, **options: Any) -> str:
    """The configuration as a notebook, the text of an `.ipynb` file (nbformat 4.5).

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
        RecipeError: the recipe does not fit its task or the architecture.
        TooLargeError: the attention patterns are too many to keep.
    """
    if recipe is not None:
        return export_training(config, recipe)
    if target is None:
        return export_encoder(show_encoder(config, seed, text, tokenizer, weights, causal, sentence, place))
    if weights != "random" or causal:
        raise InputError("An encoder–decoder has random weights here, and its encoder sees its whole source.")
    return _run_pair(config, seed, text, target, tokenizer, sentence, place)


def _run_pair(
    config: ModelConfig, seed: int, text: str, target: str, tokenizer: str, sentence: int, place: Place
) -> Export:
    """Run a sentence and its target line as a page does."""
    lines = split_sentences(target).sentences
    if not lines:
        raise InputError("The target has no sentence: the decoder needs at least one token.")
    source_batch, _ = cut_text(config, text, tokenizer, sentence)
    line = min(sentence, len(lines) - 1)
    target_batch, tgt_vocab_size = cut_text(config, target, tokenizer, line, of_table=False)
    run = run_pair(EncoderDecoder(config, tgt_vocab_size, seed), source_batch, target_batch, sentence, line)
    return export_pair(run, tgt_vocab_size, seed=seed, place=place)
