"""Tutorial C's ten regularisers in 17 switches: what each does, where it acts, and the trainings that measure it.

A comparison trains a baseline, and beside it once for each regulariser, with that switched. A network gets so little to
learn from that it learns by heart, or plenty. All of it may be run with several seeds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Literal

from playground.config import ModelConfig
from playground.text.wording import join_words, lower_first
from playground.training.ablation import AblationTraining
from playground.training.recipe import Recipe
from playground.training.tasks import TASKS

TEN: Mapping[int, str] = {
    1: "Dropout",
    2: "Attention masking",
    3: "Weight decay",
    4: "Layer normalisation",
    5: "Label smoothing",
    6: "Early stopping",
    7: "Data augmentation",
    8: "Gradient clipping",
    9: "Knowledge distillation",
    10: "Dropout at residual connections",
}
"""The ten by their number; some have several switches."""


@dataclass(frozen=True)
class Regulariser:
    """One switch."""

    field: str
    """The recipe's field that holds its strength; also its key."""
    number: int
    """Its place among the ten."""
    title: str
    explanation: str
    where: str
    """Where it acts, in a few words."""
    scale: str
    """What its strength is, in a few words; empty for a switch without a strength."""
    usual: Any
    """A strength to begin with, which shows in a small run; True for what a transformer has by nature."""

    @property
    def on_by_default(self) -> bool:
        """Whether a transformer has it unless it is taken away: masks and norms."""
        return self.usual is True

    def strength_in(self, recipe: Recipe) -> Any:
        """How strong it is in a recipe; a switch is on or off."""
        return vars(recipe)[self.field]

    @property
    def choice(self) -> str:
        """What it is called where it can be chosen: to choose what is on by default is to go without it."""
        return f"Without {lower_first(self.title)}" if self.on_by_default else self.title


_ALL = (
    Regulariser(
        "dropout_attention", 1, "Dropout on attention weights",
        "Some tokens are not looked at in this step, so that no head can rely on a single one.",
        "softmax(scores), before the values are added up", "probability", 0.1,
    ),
    Regulariser(
        "dropout_feedforward", 1, "Dropout in the feed-forward",
        "Some hidden features are missing in this step, so that none of them is needed alone.",
        "the hidden layer, after its activation", "probability", 0.1,
    ),
    Regulariser(
        "dropout_positions", 1, "Dropout on the embedded tokens",
        "Some numbers of every token's vector are missing before the first block sees it.",
        "token + position, before the first block", "probability", 0.1,
    ),
    Regulariser(
        "mask_padding", 2, "Padding mask",
        "Tokens that only fill up a batch are hidden; without it, an answer depends on how long the neighbours are.",
        "scores of padded keys become −∞", "", True,
    ),
    Regulariser(
        "causal", 2, "Causal mask",
        "Later characters are hidden. Without it, a network can look the next one up, and learns little else.",
        "scores of later keys become −∞", "", True,
    ),
    Regulariser(
        "weight_decay", 3, "Weight decay",
        "Every step pulls the weights towards 0, so that one stays large only where the data asks for it. It is meant "
        "for AdamW, which takes λ times the learning rate of each weight away. SGD adds λ · w to the gradient, and its "
        "momentum makes that about ten times as much; Adam rescales it with the gradient, so that a small λ may be too "
        "strong.",
        "matrices and tables, in the optimiser's step", "λ; AdamW takes λ · lr · w at each step", 0.3,
    ),
    Regulariser(
        "layer_norm", 4, "Layer normalisation",
        "Every vector is brought to one size, so that no layer's numbers drift off.",
        "twice in every block, and wherever else the sidebar has a norm", "", True,
    ),
    Regulariser(
        "label_smoothing", 5, "Label smoothing",
        "A share of each target is spread over all classes, so that certainty is never rewarded.",
        "the targets of the loss", "ε, the share", 0.1,
    ),
    Regulariser(
        "patience", 6, "Early stopping",
        "Training ends once the validation loss has stopped falling, and the weights with the lowest come back.",
        "the training loop", "evaluations without a lower loss", 5,
    ),
    Regulariser(
        "token_masking", 7, "Token masking",
        "Some tokens are shown as [MASK], so that the answer has to follow from the others.",
        "what the encoder reads, while training", "probability", 0.1,
    ),
    Regulariser(
        "token_swapping", 7, "Token swapping",
        "Some neighbours change places while the answer stays, so that no place can be trusted blindly.",
        "what the encoder reads, while training", "probability of a pair", 0.1,
    ),
    Regulariser(
        "span_masking", 7, "Span masking",
        "One piece of every sequence is shown as [MASK]: a longer gap than single tokens leave.",
        "what the encoder reads, while training", "share of the sequence", 0.2,
    ),
    Regulariser(
        "noise", 7, "Embedding noise",
        "Every number of a token's vector is a little off, differently each time. No exact value can be relied on.",
        "token + position, before the first block", "standard deviation; behind a norm, the numbers' own is 1", 0.3,
    ),
    Regulariser(
        "shuffling", 7, "Local shuffling",
        "Some sequences are read in another order, shuffled within windows of four tokens; the answer stays. In Sort, "
        "where no order counts, every answer stays right. Most other tasks ask about places. There, a shuffled "
        "sequence teaches wrong answers, and a large share does harm.",
        "what the encoder reads, while training", "probability of a sequence", 0.1,
    ),
    Regulariser(
        "clip", 8, "Gradient clipping",
        "A gradient longer than this is shortened to it, so that one odd batch cannot throw the weights away.",
        "the whole gradient, before the step", "largest norm", 1.0,
    ),
    Regulariser(
        "distill", 9, "Knowledge distillation",
        "A teacher twice as wide learns first; the network then learns its probabilities too, not the bare answers.",
        "the loss", "the teacher's share of it", 0.5,
    ),
    Regulariser(
        "dropout_residual", 10, "Dropout at residual connections",
        "Some numbers that a sublayer would add are missing in this step, so that the stream carries the load.",
        "what attention and feed-forward add to the stream", "probability", 0.1,
    ),
)  # fmt: skip

REGULARISERS: Mapping[str, Regulariser] = {regulariser.field: regulariser for regulariser in _ALL}
"""Every switch by the recipe's field, in the order of the ten."""


_BROUGHT_TO: Mapping[str, str] = {
    "layer": "to mean 0 and variance 1",
    "scalar": "to mean 0 and variance 1",
    "rms": "to a mean square of 1, while its mean is not taken away",
}
"""What each norm of an architecture does to a vector, before gain and bias."""


def explain_regulariser(regulariser: Regulariser, norm: str) -> str:
    """What a regulariser does, in an architecture with these norms."""
    if regulariser.field == "layer_norm" and norm in _BROUGHT_TO:
        return f"Every vector is brought {_BROUGHT_TO[norm]}, so that no layer's numbers drift off."
    return regulariser.explanation


def without_regularisers(recipe: Recipe) -> Recipe:
    """The recipe with nothing but what a transformer has by nature: masks and norms."""
    plain = Recipe()
    changes = {regulariser.field: regulariser.strength_in(plain) for regulariser in REGULARISERS.values()}
    return replace(recipe, **changes)


def reason_without_effect(regulariser: Regulariser, recipe: Recipe, norm: str) -> str:
    """Why a switch can change nothing in a recipe's task and an architecture with these norms; empty where it can."""
    if regulariser.field == "layer_norm" and norm == "none":
        return "the architecture has no norms anyway"
    reason = TASKS[recipe.task].unused_fields.get(regulariser.field, "")
    if regulariser.field == "causal" and reason:
        titles = [f"“{task.title}”" for task in TASKS.values() if task.predicts_next]
        return f"only {join_words(titles)} hides what comes later"
    return reason


Amount = Literal["small", "plenty"]

SIZES: dict[str, Any] = {"d_model": 32, "n_heads": 4, "n_layers": 2, "d_ff": 128, "max_len": 64}
"""Of the architecture: small enough for many trainings while one waits, large enough to learn a hundred
sequences by heart."""

PLENTY = 4096
"""Sequences to learn from, where they are not to be few."""


def ablation_recipe(task: str, amount: Amount, seed: int, strengths: dict[str, Any]) -> Recipe:
    """The training that is varied, with these strengths of the regularisers, by the recipe's fields.

    The amounts differ in the number of sequences to learn from alone: with a `small` one, the validation set falls far
    behind the training set. RecipeError where a strength is out of range.
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


def ablation_trainings(
    config: ModelConfig, recipe: Recipe, chosen: Sequence[str], n_seeds: int = 1
) -> tuple[AblationTraining, ...]:
    """The trainings that tell what each chosen regulariser does, each at the recipe's strength, or at its usual one.

    The baseline has none but what a transformer has by nature. Of those, masks and norms, choosing one takes it away.
    Where several can be added, one more has them all. All come with the recipe's seed, then with the next one, ….

    A training's name is the regulariser's field, `none` for the baseline, `all` for the one with all of them.

    Args:
        config: the architecture of them all.
        recipe: the task, the strengths, and the first seed.
        chosen: fields of regularisers, in any order; KeyError where there is no such regulariser.
        n_seeds: how often each is done.
    """
    baseline = without_regularisers(recipe)
    wanted = [REGULARISERS[field] for field in chosen]
    turned = [regulariser for regulariser in REGULARISERS.values() if regulariser in wanted]

    def turn(recipe_so_far: Recipe, regulariser: Regulariser) -> Recipe:
        strength = regulariser.strength_in(recipe) or regulariser.usual
        change: dict[str, Any] = {regulariser.field: not regulariser.on_by_default and strength}
        return replace(recipe_so_far, **change)

    trainings = [AblationTraining("none", "plain run", baseline, config)]
    for regulariser in turned:
        title = lower_first(regulariser.choice) if regulariser.on_by_default else regulariser.title
        trainings.append(AblationTraining(regulariser.field, title, turn(baseline, regulariser), config))
    added = [regulariser for regulariser in turned if not regulariser.on_by_default]
    if len(added) > 1:
        title = "all of these" if added == turned else "all that can be added"
        trainings.append(AblationTraining("all", title, reduce(turn, added, baseline), config))
    seeds = range(recipe.seed, recipe.seed + n_seeds)
    return tuple(
        replace(training, recipe=replace(training.recipe, seed=seed)) for seed in seeds for training in trainings
    )
