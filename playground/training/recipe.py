"""Everything that a training run depends on, beside the architecture."""

from dataclasses import dataclass, fields
from typing import Any, Literal, get_args

from playground.errors import RecipeError
from playground.training.tasks import TASKS
from playground.training.tasks.task import DataRecipe

OptimizerName = Literal["adam", "adamw", "sgd"]
ScheduleName = Literal["paper", "constant"]


@dataclass(frozen=True, kw_only=True)
class Recipe(DataRecipe):
    """A training run: its task and data, its optimiser, and ten regularisers, each off at 0 or False.

    Two runs of one recipe and one architecture give the same losses on the same kind of device with the same number of
    threads, which is one unless a server sets more: more threads add up in another order.

    Raises:
        RecipeError: a field has a wrong type or is out of range; the message says what would work.
    """

    steps: int = 600
    """Batches to learn from, one after the other."""
    batch_size: int = 64
    """Sequences in a batch."""

    optimizer: OptimizerName = "adam"
    """`adam` (Kingma & Ba 2015), `adamw` (Loshchilov & Hutter 2019), or `sgd` with momentum 0.9."""
    schedule: ScheduleName = "paper"
    """`paper`: up in a line for `warmup` steps, then down with 1/√step (Vaswani et al. 2017, section 5.3)."""
    lr: float = 2e-3
    """The learning rate; of the paper's schedule its peak."""
    warmup: int = 100
    """Steps until the paper's schedule reaches its peak."""

    dropout_attention: float = 0.0
    """Probability that an attention weight is zeroed."""
    dropout_feedforward: float = 0.0
    """Probability that a number of the feed-forward's hidden layer is zeroed."""
    dropout_residual: float = 0.0
    """Probability that a number which a sublayer adds to the residual stream is zeroed."""
    dropout_positions: float = 0.0
    """Probability that a number of the embedded tokens, positions added, is zeroed."""
    mask_padding: bool = True
    """Hide padding from attention."""
    causal: bool = True
    """Hide later characters from attention, in the task that predicts the next one."""
    weight_decay: float = 0.0
    """Pull of the weights towards 0: λ of λ/2 · |w|², biases and norms left out; `adamw` takes λ · lr · w away."""
    layer_norm: bool = True
    """Keep the architecture's norms; without, it trains with none."""
    label_smoothing: float = 0.0
    """Share ε of each target that is spread over all classes (Szegedy et al. 2016, section 7)."""
    patience: int = 0
    """Evaluations without a lower validation loss until training stops and the best weights come back."""
    token_masking: float = 0.0
    """Probability that a token is shown as [MASK]."""
    token_swapping: float = 0.0
    """Probability that a token changes places with its neighbour."""
    span_masking: float = 0.0
    """Share of each sequence that is masked in one piece."""
    clip: float = 0.0
    """Largest norm of the whole gradient; a longer one is shortened to it (Pascanu et al. 2013)."""
    distill: float = 0.0
    """Share of the loss that compares with a teacher, twice as wide and trained first (Hinton et al. 2015)."""
    temperature: float = 2.0
    """What the teacher's and the student's scores are divided by before they are compared."""

    def __post_init__(self) -> None:
        for field in fields(self):
            _check(field.name, getattr(self, field.name), type(field.default))


_MAX_TEXT = 20_000
_CHOICES: dict[str, tuple[object, ...]] = {
    "task": tuple(TASKS),
    "optimizer": get_args(OptimizerName),
    "schedule": get_args(ScheduleName),
}
_RANGES: dict[str, tuple[float, float]] = {
    "length": (2, 256),
    "n_symbols": (2, 26),
    "n_train": (1, 100_000),
    "n_validation": (1, 4_096),
    "seed": (0, 2**31 - 1),
    "steps": (1, 100_000),
    "batch_size": (1, 512),
    "lr": (1e-8, 1e4),
    "warmup": (1, 100_000),
    "dropout_attention": (0, 0.95),
    "dropout_feedforward": (0, 0.95),
    "dropout_residual": (0, 0.95),
    "dropout_positions": (0, 0.95),
    "weight_decay": (0, 10),
    "label_smoothing": (0, 0.95),
    "patience": (0, 1_000),
    "token_masking": (0, 0.95),
    "token_swapping": (0, 1),
    "span_masking": (0, 0.95),
    "clip": (0, 1e6),
    "distill": (0, 1),
    "temperature": (0.1, 100),
}
"""Lowest and highest value of each number, both allowed."""


def _check(name: str, value: Any, kind: type) -> None:
    """RecipeError unless the value is one for a field whose default is of this type."""
    if name in _CHOICES:
        if value not in _CHOICES[name]:
            raise RecipeError(name, value, "is not a choice", _CHOICES[name])
    elif kind is str:
        if not isinstance(value, str):
            raise RecipeError(name, value, "is not text", ("'some text'",))
        if len(value) > _MAX_TEXT:
            works = f"{_MAX_TEXT:,} characters"
            raise RecipeError(name, f"{value[:20]}…", f"has {len(value):,} characters", (works,))
    elif kind is bool:
        if not isinstance(value, bool):
            raise RecipeError(name, value, "is not a switch", (True, False))
    else:
        low, high = _RANGES[name]
        if isinstance(value, bool) or not isinstance(value, int if kind is int else int | float):
            raise RecipeError(name, value, "is not a whole number" if kind is int else "is not a number", (low,))
        if not low <= value <= high:  # nor is NaN
            raise RecipeError(name, value, f"is not between {low:g} and {high:g}", (high if value > high else low,))
