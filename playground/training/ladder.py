"""From the encoder of 2017 to one of today, a change a rung: what papers say of each, and trainings that measure it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

from playground.config import ModelConfig
from playground.training.ablation import (
    AblationResult,
    AblationTraining,
    Effect,
    compare_to_baseline,
    group_by_name,
    is_told_apart,
)
from playground.training.recipe import Recipe, architecture
from playground.training.tasks import TASKS, Data

Fields = Mapping[str, Any]

START = "2017"
"""What the encoder before the first rung is called."""


@dataclass(frozen=True)
class Rung:
    """One change of an encoder, and what the paper that brought it reports."""

    name: str
    year: int
    """Of the paper that `source` names, the last if it names two."""
    change: Callable[[ModelConfig], Fields]
    """The fields that it sets, from the architecture before it."""
    plain: str
    """What is otherwise, in one sentence for who knows no formula."""
    what: str
    """What is computed otherwise, exactly."""
    claim: str
    """What was measured, with its numbers where it has any."""
    source: str


def _set(**fields: Any) -> Callable[[ModelConfig], Fields]:
    return lambda _: fields


_RUNGS = (
    Rung(
        "GELU",
        2016,
        _set(activation="gelu"),
        "The feed-forward network's activation is a smooth curve, no longer a sharp bend.",
        "The feed-forward's activation is smooth: x · Φ(x) instead of max(0, x).",
        "A median error of 7.89% on CIFAR-10, 8.16% with ReLU. BERT made it usual.",
        "Hendrycks & Gimpel 2016",
    ),
    Rung(
        "learned positions",
        2017,
        _set(positions="learned"),
        "The vector of each place is learned; before, it was made of sines.",
        "The table of positions is learned instead of made of sines.",
        "Nearly the same: 25.7 BLEU with a learned table, 25.8 with sines. BERT made it usual.",
        "Vaswani et al. 2017, table 3, row E",
    ),
    Rung(
        "RMS norm",
        2019,
        _set(norm="rms"),
        "A norm divides a vector by its size; it no longer subtracts the mean.",
        "Norms divide by the root mean square. They subtract no mean and add no bias.",
        "As good as layer norm, in 7% to 64% less time.",
        "Zhang & Sennrich 2019, abstract",
    ),
    Rung(
        "pre-norm",
        2020,
        _set(norm_placement="pre", final_norm=True),
        "Norms stand before attention and feed-forward, no longer behind them.",
        "Norms stand before attention and feed-forward, and one stands after the last block: the residual stream is "
        "never normed on its way.",
        "Without a warm-up of the learning rate, post-norm falls from about 34 BLEU to 8.45; pre-norm needs none.",
        "Xiong et al. 2020",
    ),
    Rung(
        "gated feed-forward",
        2020,
        lambda config: {"gated": True, "d_ff": config.d_ff * 2 // 3},
        "The feed-forward network's hidden numbers are multiplied by those of one more linear map.",
        "A third linear map multiplies what the activation gives. The hidden width shrinks to two thirds, so that the "
        "weights stay as many.",
        "Log-perplexity 1.633 with GEGLU, 1.679 with GELU, after 524,288 steps.",
        "Shazeer 2020, table 1",
    ),
    Rung(
        "local windows",
        2020,
        lambda config: {"window": config.max_len // 4, "global_every": 2},
        "In every second layer, a token looks at its neighbours alone.",
        "Every second layer lets a token attend to those near it alone: a window of a quarter of the longest sentence.",
        "Work that grows with a text's length and not with its square. That lets a model read long texts at once: 75.0 "
        "on WikiHop, where RoBERTa, which reads 512 tokens, has 72.4.",
        "Beltagy et al. 2020",
    ),
    Rung(
        "norm on queries and keys",
        2020,
        _set(qk_norm=True),
        "Queries and keys get a norm of their own before they are compared.",
        "Each head's queries and keys are normed before they meet, so that no score grows with their lengths.",
        "0.928 BLEU more on average, over five pairs of languages with little text.",
        "Henry et al. 2020, abstract",
    ),
    Rung(
        "rotary positions",
        2021,
        _set(positions="rotary"),
        "Queries and keys are turned by their place; nothing is added to the tokens' vectors.",
        "No table: queries and keys are turned by an angle that grows with their place, so that scores depend on the "
        "distance and its direction.",
        "27.5 BLEU from English to German, 27.3 with sines.",
        "Su et al. 2021, table 1",
    ),
    Rung(
        "no biases",
        2022,
        _set(bias=False),
        "Linear maps and norms add no learned vector.",
        "Linear maps and norms add no learned vector.",
        "Large models train with fewer accidents; no number is given.",
        "Chowdhery et al. 2022, section 2",
    ),
    Rung(
        "grouped queries",
        2023,
        lambda config: {"n_kv_heads": config.n_heads // 2},
        "Two heads share their keys and values.",
        "Two heads of queries share one head of keys and values.",
        "An average score of 47.1 instead of 47.2, in 0.28 s instead of 1.51 s: eight groups for 64 heads.",
        "Ainslie et al. 2023, table 1",
    ),
    Rung(
        "relative positions",
        2020,
        _set(positions="relative"),
        "Each score gets a learned number for the distance of the two tokens.",
        "No table: each head adds a learned number to every score, by the range in which the distance lies.",
        "An earlier form of it: 1.3 BLEU more from English to German than with sines. T5 made it simpler.",
        "Shaw et al. 2018, abstract; Raffel et al. 2020",
    ),
    Rung(
        "ALiBi",
        2022,
        _set(positions="alibi"),
        "Scores fall with the distance of the two tokens.",
        "No table: every score loses a multiple of the distance, with a slope of its own for each head.",
        "Taught on 1,024 tokens, as good on 2,048 as sines that were taught on 2,048, in 11% less time.",
        "Press et al. 2022, abstract",
    ),
    Rung(
        "sandwich norm",
        2021,
        _set(norm_placement="both", final_norm=True),
        "Norms stand before and behind attention and feed-forward.",
        "Norms stand before and behind attention and feed-forward.",
        "Large models train in half precision without overflow; no number is given.",
        "Ding et al. 2021",
    ),
    Rung(
        "shared layers",
        2019,
        _set(share_layers=True),
        "All layers have the same weights.",
        "All blocks have the same weights.",
        "12 million parameters instead of 89, and an average score of 80.1 instead of 81.6.",
        "Lan et al. 2019, table 4",
    ),
)

RUNGS: dict[str, Rung] = {rung.name: rung for rung in _RUNGS}
"""By name: what a ladder can be made of."""

USUAL = tuple(RUNGS)[:10]
"""The ladder that a page begins with, by year."""

TRAINED = ModelConfig(vocab_size=1, d_model=48, n_heads=4, n_layers=2, d_ff=192, max_len=32, dropout=0.0)
"""The encoder of 2017, small enough to train three dozen of its kind while one waits."""

LARGE = ModelConfig(vocab_size=30_522, d_model=768, n_heads=12, n_layers=12, d_ff=3_072, max_len=512)
"""The encoder of 2017, as wide and deep as BERT base: what a change costs there."""


def climb(start: ModelConfig, names: Sequence[str]) -> tuple[ModelConfig, ...]:
    """The encoder that a ladder starts from, and those on its rungs, each with all changes so far.

    Args:
        start: the encoder of 2017, in some size.
        names: of `RUNGS`, each at most once, in their order.
    """
    configs = [start]
    for name in names:
        configs.append(replace(configs[-1], **RUNGS[name].change(configs[-1])))
    return tuple(configs)


def ladder_recipe(task: str, seed: int) -> Recipe:
    """How every rung is trained: the same task, data, batches and steps."""
    return Recipe(
        task=task, n_train=4_096, n_validation=128, seed=seed, steps=150, batch_size=32, optimizer="adamw", lr=2e-3,
        warmup=50, **TASKS[task].ablation_sizes,
    )  # fmt: skip


def ladder_trainings(names: Sequence[str], recipe: Recipe, data: Data, n_seeds: int) -> tuple[AblationTraining, ...]:
    """A training of the encoder of 2017 and of each rung, with the recipe's seed, then with the next one, ….

    Each is called as its rung, the first `START`; `data` are the recipe's. Raises RecipeError as `architecture`.
    """
    configs = [architecture(config, recipe, data) for config in climb(TRAINED, names)]
    return tuple(
        AblationTraining(name, name, replace(recipe, seed=seed), config)
        for seed in range(recipe.seed, recipe.seed + n_seeds)
        for name, config in zip((START, *names), configs, strict=True)
    )


@dataclass(frozen=True)
class Step:
    """A rung beside the one before it, with the same seeds."""

    rung: Rung
    before: str
    """The name of the one before."""
    effect: Effect
    """Of the rung, the one before being the baseline."""
    n_compared: int
    """How many steps the whole ladder has."""

    @property
    def verdict(self) -> Literal["better", "worse", "no telling"]:
        """What became of the loss, which tells sooner than right answers do; told apart as one of `n_compared`."""
        if not is_told_apart(self.effect.loss_p, self.n_compared):
            return "no telling"
        return "better" if self.effect.loss_change < 0 else "worse"


def list_steps(names: Sequence[str], results: Sequence[AblationResult]) -> Iterator[Step]:
    """The steps of which both ends are trained, in their order; over the seeds with which they are.

    Args:
        names: of the rungs, in their order.
        results: of the trainings that have begun.
    """
    kinds = group_by_name(results)
    for before, name in pairwise((START, *names)):
        effect = compare_to_baseline(kinds.get(name, []), kinds.get(before, []))
        if effect is not None:
            yield Step(RUNGS[name], before, effect, len(names))
