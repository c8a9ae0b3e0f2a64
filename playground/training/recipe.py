"""Everything that a training run depends on, beside the architecture, and what it makes of that."""

from dataclasses import dataclass, replace
from typing import Annotated, Literal

from playground.config import ModelConfig, check_fields
from playground.errors import RecipeError
from playground.training.tasks import TASKS, Data
from playground.training.tasks.task import DataRecipe

OptimizerName = Literal["adam", "adamw", "sgd"]
ScheduleName = Literal["paper", "constant"]

_MAX_TEXT = 20_000


@dataclass(frozen=True, kw_only=True)
class Recipe(DataRecipe):
    """A training run: its data, its optimiser, and ten regularisers, each off at 0 or False; RecipeError if wrong.

    Equal recipes and architectures give equal losses on one kind of device with as many threads.
    """

    steps: Annotated[int, (1, 100_000)] = 600
    """Batches to learn from."""
    batch_size: Annotated[int, (1, 512)] = 64
    """Sequences in a batch."""

    optimizer: OptimizerName = "adam"
    """`adam` (Kingma & Ba 2015), `adamw` (Loshchilov & Hutter 2019), or `sgd` with momentum 0.9."""
    schedule: ScheduleName = "paper"
    """`paper`: up for `warmup` steps, then down with 1/√step (Vaswani et al. 2017, section 5.3)."""
    lr: Annotated[float, (1e-8, 10_000)] = 2e-3
    """The learning rate; of the paper's schedule its peak."""
    warmup: Annotated[int, (1, 100_000)] = 100
    """Steps until the paper's schedule reaches its peak."""

    dropout_attention: Annotated[float, (0, 0.95)] = 0.0
    """Probability that an attention weight is zeroed."""
    dropout_feedforward: Annotated[float, (0, 0.95)] = 0.0
    """The same of a number in the feed-forward's hidden layer."""
    dropout_residual: Annotated[float, (0, 0.95)] = 0.0
    """Of a number that a sublayer adds."""
    dropout_positions: Annotated[float, (0, 0.95)] = 0.0
    """Of a number of the embeddings, positions added."""
    mask_padding: bool = True
    """Hide padding from attention."""
    causal: bool = True
    """Hide later characters from attention, where the next one is predicted."""
    weight_decay: Annotated[float, (0, 10)] = 0.0
    """Pull of the weights towards 0: λ of λ/2 · |w|², biases and norms left out; `adamw` takes λ · lr · w away."""
    layer_norm: bool = True
    """Keep the architecture's norms."""
    label_smoothing: Annotated[float, (0, 0.95)] = 0.0
    """Share of each target that is spread over all classes (Szegedy et al. 2016, section 7)."""
    patience: Annotated[int, (0, 1_000)] = 0
    """Evaluations without a lower validation loss until training stops and the best weights come back."""
    token_masking: Annotated[float, (0, 0.95)] = 0.0
    """Probability that a token is shown as [MASK]."""
    clip: Annotated[float, (0, 1_000_000)] = 0.0
    """Largest norm of the whole gradient (Pascanu et al. 2013)."""
    distill: Annotated[float, (0, 1)] = 0.0
    """Share of the loss that compares with a teacher, twice as wide and trained first (Hinton et al. 2015)."""
    temperature: Annotated[float, (0.1, 100)] = 2.0
    """What both scores are divided by before they are compared."""

    def __post_init__(self) -> None:
        if self.task not in tuple(TASKS):
            raise RecipeError("task", self.task, "is not a choice", tuple(TASKS))
        if not isinstance(self.text, str):
            raise RecipeError("text", self.text, "is not text", ("'some text'",))
        if len(self.text) > _MAX_TEXT:
            works = f"{_MAX_TEXT:,} characters"
            raise RecipeError("text", f"{self.text[:20]}…", f"has {len(self.text):,} characters", (works,))
        check_fields(self, RecipeError)


FORMER = dict.fromkeys(("noise", "shuffling", "span_masking", "token_swapping"), 0.0)
"""Fields that recipes once had, each off: they still count in a run's key, and older files name them."""


def architecture(config: ModelConfig, recipe: Recipe, data: Data) -> ModelConfig:
    """Return an architecture with the task's vocabulary and the recipe's norms; RecipeError if max_len is too short."""
    longest = recipe.length + data.task.has_decoder  # its [BOS]
    if config.has_position_table and longest > config.max_len:
        reason = f"makes sequences of up to {longest} tokens, and the position table has max_len={config.max_len} rows"
        raise RecipeError("length", recipe.length, reason, (max(2, recipe.length - (longest - config.max_len)),))
    norm = config.norm if recipe.layer_norm else "none"
    return replace(config, vocab_size=data.tokenizer.vocab_size, norm=norm)


def teacher_config(config: ModelConfig) -> ModelConfig:
    """Return the teacher's architecture: twice as wide."""
    return replace(config, d_model=2 * config.d_model, d_ff=2 * config.d_ff)
