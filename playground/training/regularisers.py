"""Tutorial C's ten regularisers: what each does, where it acts, and the runs that measure it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from playground.config import ModelConfig
from playground.text.wording import lower_first
from playground.training.recipe import Recipe
from playground.training.tasks import TASKS
from playground.training.variants import VariantRun, runs_with_seeds


@dataclass(frozen=True)
class Regulariser:
    """One of the ten."""

    field: str
    """The recipe's field that holds its strength; also its key."""
    title: str
    explanation: str
    where: str
    """Where it acts, in a few words."""
    scale: str
    """What its strength is, in a few words; empty for one without a strength."""
    usual: Any
    """A strength to begin with, which shows in a small run; True for what a transformer has by default."""

    @property
    def on_by_default(self) -> bool:
        """Whether a transformer has it unless it is taken away: the causal mask and the norms."""
        return self.usual is True

    @property
    def choice(self) -> str:
        """Return its name in a comparison: to choose what is on by default is to go without it."""
        return f"Without {lower_first(self.title)}" if self.on_by_default else self.title


_ALL = (
    Regulariser(
        "dropout_attention", "Dropout on attention weights",
        "Some tokens are not looked at in this step, so that no head can rely on a single one.",
        "softmax(scores), before the values are added up", "probability", 0.1,
    ),
    Regulariser(
        "causal", "Causal mask",
        "Later characters are hidden. Without it, a network can look the next one up, and learns little else.",
        "scores of later keys become −∞", "", True,
    ),
    Regulariser(
        "weight_decay", "Weight decay",
        "Every step pulls the weights towards 0, so that one stays large only where the data asks for it. It is meant "
        "for AdamW; the same λ is stronger in SGD and Adam.",
        "matrices and tables, in the optimiser's step", "λ; AdamW takes λ · lr · w at each step", 0.3,
    ),
    Regulariser(
        "layer_norm", "Layer normalisation",
        "Every vector is brought to one size, so that no layer's numbers drift off.",
        "twice in every block, and wherever else the sidebar has a norm", "", True,
    ),
    Regulariser(
        "label_smoothing", "Label smoothing",
        "A share of each target is spread over all classes, so that certainty is never rewarded.",
        "the targets of the loss", "ε, the share", 0.1,
    ),
    Regulariser(
        "patience", "Early stopping",
        "Training ends once the validation loss has stopped falling, and the weights with the lowest come back.",
        "the training loop", "evaluations without a lower loss", 5,
    ),
    Regulariser(
        "token_masking", "Token masking",
        "Some tokens are shown as [MASK], so that the answer has to follow from the others.",
        "what the encoder reads, while training", "probability", 0.1,
    ),
    Regulariser(
        "clip", "Gradient clipping",
        "A gradient longer than this is shortened to it, so that one odd batch cannot throw the weights away.",
        "the whole gradient, before the step", "largest norm", 1.0,
    ),
    Regulariser(
        "distill", "Knowledge distillation",
        "A teacher twice as wide learns first; the network then learns its probabilities too, not the bare answers.",
        "the loss", "the teacher's share of it", 0.5,
    ),
    Regulariser(
        "dropout_residual", "Dropout at residual connections",
        "Some numbers that a sublayer would add are missing in this step, so that the stream carries the load.",
        "what attention and feed-forward add to the stream", "probability", 0.1,
    ),
)  # fmt: skip

REGULARISERS: Mapping[str, Regulariser] = {regulariser.field: regulariser for regulariser in _ALL}
"""The ten by the recipe's field, in Tutorial C's order."""


def reason_without_effect(regulariser: Regulariser, recipe: Recipe, norm: str) -> str:
    """Return why one can change nothing in a recipe's task and an architecture with these norms; empty if it can."""
    if regulariser.field == "layer_norm" and norm == "none":
        return "the architecture has no norms anyway"
    return TASKS[recipe.task].unused_fields.get(regulariser.field, "")


Amount = Literal["small", "plenty"]

SIZES: dict[str, Any] = {"d_model": 32, "n_heads": 4, "n_layers": 2, "d_ff": 128, "max_len": 64}
"""Of the architecture: small enough for many runs while one waits, large enough to memorise a hundred sequences."""

PLENTY = 4096
"""Sequences to learn from, if they are not to be few."""


def comparison_recipe(task: str, amount: Amount, seed: int, strengths: Mapping[str, Any]) -> Recipe:
    """Return the recipe that is varied, with these strengths of the regularisers, by the recipe's fields.

    With a `small` amount to learn from, the validation set falls far behind the training set. RecipeError if a strength
    is out of range.
    """
    return Recipe(
        task=task,
        n_train=TASKS[task].ablation_small if amount == "small" else PLENTY,
        n_validation=512,
        seed=seed,
        steps=500,
        batch_size=32,
        optimizer="adamw",
        lr=2e-3,
        warmup=50,
        **TASKS[task].ablation_sizes,
        **strengths,
    )


def regulariser_runs(
    config: ModelConfig, recipe: Recipe, chosen: Sequence[str], n_seeds: int = 1
) -> tuple[VariantRun, ...]:
    """Return a plain run, `none`, and one for each chosen regulariser, by its field; then the same with the next seed.

    The plain run has what a transformer has by default, the causal mask and norms; choosing one of these takes it away.

    Args:
        config: the architecture of them all.
        recipe: the task, the strengths, and the first seed; a strength of 0 gives the usual one.
        chosen: fields of regularisers, in any order; KeyError if there is no such regulariser.
        n_seeds: how often each is done.
    """
    defaults, wanted = vars(Recipe()), [REGULARISERS[field] for field in chosen]
    plain = replace(recipe, **{field: defaults[field] for field in REGULARISERS})
    variants = [VariantRun("none", "plain run", plain, config)]
    for each in (regulariser for regulariser in REGULARISERS.values() if regulariser in wanted):
        strength: Any = not each.on_by_default and (vars(recipe)[each.field] or each.usual)
        changed = replace(plain, **{each.field: strength})
        variants.append(VariantRun(each.field, lower_first(each.choice), changed, config))
    return runs_with_seeds(variants, range(recipe.seed, recipe.seed + n_seeds))
