"""Two encoders of the page Gradient flow in training: what each has learnt shows what residual connections are for."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from playground.analysis.gradient_variants import BY_NAME, VARIANTS, Variant, common_config, variant_config
from playground.charts import over_steps
from playground.charts.chart import Item, Paragraph, Picture
from playground.charts.figure import Figure
from playground.charts.scene import Scene
from playground.config import ModelConfig
from playground.text.wording import upper_first
from playground.training.ablation import AblationResult, AblationTraining, difference_noise
from playground.training.recipe import Recipe, architecture
from playground.training.tasks import Data
from playground.views.ablation_curves import WatchedAblation, list_series, run_lines
from playground.views.gradient_flow import COLOURS

SIZES: dict[str, Any] = {"d_model": 32, "n_heads": 4, "d_ff": 64, "max_len": 64}
N_LAYERS = 8
"""Of the encoders that are trained: deep enough for a difference, small enough to be waited for."""


def ask_question(pair: Sequence[Variant]) -> str:
    """What training this pair answers, and what is trained (markdown)."""
    question = "What can they learn?"
    if len({variant.residual for variant in pair}) > 1:
        question = "What are residual connections good for?"
    return (
        f"**{question}** A gradient that arrives is only a part of the answer. Let both learn a task: read a row of "
        f"letters, and name the letter at each place. They have {N_LAYERS} layers here, whatever the slider says, and "
        f"vectors of {SIZES['d_model']} numbers, so that you need not wait for long."
    )


def pair_recipe(seed: int) -> Recipe:
    """How both are trained."""
    return Recipe(
        task="copy", length=8, n_symbols=8, n_train=4_096, n_validation=256, steps=120, batch_size=32,
        optimizer="adamw", lr=1e-3, warmup=20, seed=seed,
    )  # fmt: skip


_LOOKS = {
    each.name: {
        "color": COLOURS[each.norm, each.residual],
        "width": 2,
        "dash": "solid" if each.residual else "dash",
    }
    for each in VARIANTS
}
"""The lines of encoders, by their names."""


def pair_trainings(
    config: ModelConfig, pair: Sequence[Variant], recipe: Recipe, data: Data
) -> tuple[AblationTraining, ...]:
    """The trainings of these encoders, which share all else of an architecture of `SIZES`; errors as `architecture`."""
    shared = replace(architecture(common_config(config, N_LAYERS), recipe, data), dropout=0.0)
    return tuple(
        AblationTraining(variant.name, variant.name, recipe, variant_config(shared, variant)) for variant in pair
    )


def show_pair(scene: Scene[WatchedAblation]) -> Iterator[Item]:
    """What each has learnt, in a sentence once both have ended, and step by step."""
    pair = scene.now
    if pair.state.results and pair.state.n_ended == len(pair.state.trainings):
        yield Paragraph(describe_outcome(pair))
    yield Picture[WatchedAblation](
        key="gradient_training",
        alt="Right answers of the encoders in training by step, a line each.",
        caption="The share of right answers to sequences that are never learnt from, by step. Dotted: the simple rule, "
        f"which is to {pair.data.task.rule}.",
        figure=draw_pair,
        table=tabulate_pair,
        grows=pair.grows,
    )


def describe_outcome(pair: WatchedAblation) -> str:
    """How much each gets right at the end, and what can be concluded of it (markdown)."""
    recipe = pair.state.trainings[0].recipe
    shares = {BY_NAME[each.training.name]: _accuracy(each) for each in pair.state.results}
    parts = [f"**{variant.name}** {share:.1%}" for variant, share in shares.items()]
    outcome = (
        f"After {recipe.steps} steps, right answers to sequences that they never saw: {', '.join(parts)}. The simple "
        f"rule gets {pair.data.baseline:.1%}."
    )
    for result in pair.state.results:
        if result.outcome == "diverged":
            steps = len(result.history.loss)
            outcome += (
                f" The training of *{result.training.title}* got far worse than guessing and ended at step {steps}."
            )
    return f"{outcome} {_compare_shares(shares, pair.state.n_answers)}" if len(shares) > 1 else outcome


def _compare_shares(shares: Mapping[Variant, float], n_answers: int) -> str:
    """Which of two has learnt more, and what of it follows: in how much they differ decides that (markdown)."""
    less, more = sorted(shares, key=lambda variant: shares[variant])
    if shares[more] - shares[less] <= difference_noise(shares[less], n_answers):
        return "So much apart may be chance."
    if more.norm == less.norm and more.residual:
        conclusion = (
            "All else is the same: **residual connections let it learn.** They hand each vector on as it is, so that a "
            "block only has to add to it."
        )
    elif more.norm == less.norm:
        conclusion = "All else is the same: here it learns less with residual connections."
    else:
        conclusion = f"**{upper_first(more.name)}** learnt more than **{less.name}**. They differ in "
        conclusion += (
            "their norms alone: these make the difference here."
            if more.residual == less.residual
            else "two things, norms and residual connections: which of both did it is open. Choose two encoders that "
            "differ in one."
        )
    return f"{conclusion} Each was trained with one seed: another may come out otherwise."


def _accuracy(result: AblationResult) -> float:
    return result.unbatched.accuracy if result.unbatched else 0.0


def tabulate_pair(pair: WatchedAblation) -> pd.DataFrame:
    """A row an evaluation, a column an encoder."""
    columns = {each.training.title: list_series(each, "accuracy")["validation"] for each in pair.state.results}
    return pd.DataFrame(columns).rename_axis("after step")


def draw_pair(pair: WatchedAblation) -> Figure:
    """The share of right answers so far, a line each, beside the simple rule's."""
    steps = pair.state.trainings[0].recipe.steps
    traces = [
        over_steps.level_line(steps, pair.data.baseline, "simple rule", width=1, dash="dot"),
        *run_lines(pair, "validation", "accuracy", _LOOKS),
    ]
    y_axis = {"title": "right answers", "range": [0, 1.04], "tickformat": ".0%"}
    return over_steps.draw_over_steps(traces, steps, y_axis, height=260, legend=True)
