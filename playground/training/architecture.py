"""The architecture that a recipe trains, and its teacher's."""

from dataclasses import replace

from playground.config import ModelConfig
from playground.errors import RecipeError
from playground.training.recipe import Recipe
from playground.training.tasks import Data


def architecture(config: ModelConfig, recipe: Recipe, data: Data) -> ModelConfig:
    """The given architecture with the task's vocabulary, without norms if the recipe says so.

    Raises:
        RecipeError: the recipe's longest sequence, with a decoder's [BOS], is longer than the config's max_len.
    """
    longest = recipe.length + data.task.has_decoder  # its [BOS]
    if config.positions != "none" and longest > config.max_len:
        works = max(2, recipe.length - (longest - config.max_len))
        raise RecipeError(
            "length",
            recipe.length,
            f"makes sequences of up to {longest} tokens, and the position table has max_len={config.max_len} rows",
            (works,),
        )
    norm = config.norm if recipe.layer_norm else "none"
    return replace(config, vocab_size=data.tokenizer.vocab_size, norm=norm)


def teacher_config(config: ModelConfig) -> ModelConfig:
    """The teacher's architecture: the same with twice the width, in the stream and in the feed-forward."""
    return replace(config, d_model=2 * config.d_model, d_ff=2 * config.d_ff)
