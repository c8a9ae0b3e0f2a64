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
from playground.training.recipe import Recipe, architecture
from playground.training.tasks import Data
from playground.training.variants import VariantResult, VariantRun, difference_noise
from playground.views.gradient_flow import COLOURS
from playground.views.variant_curves import WatchedVariants, list_series, run_lines

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


def pair_trainings(config: ModelConfig, pair: Sequence[Variant], recipe: Recipe, data: Data) -> tuple[VariantRun, ...]:
    """The trainings of these encoders, which share all else of an architecture of `SIZES`; errors as `architecture`."""
    shared = replace(architecture(common_config(config, N_LAYERS), recipe, data), dropout=0.0)
    return tuple(VariantRun(variant.name, variant.name, recipe, variant_config(shared, variant)) for variant in pair)


def show_pair(scene: Scene[WatchedVariants]) -> Iterator[Item]:
    """What each has learnt, in a sentence once both have ended, and step by step."""
    pair = scene.now
    if pair.state.results and pair.state.n_ended == len(pair.state.runs):
        yield Paragraph(describe_outcome(pair))
    yield Picture[WatchedVariants](
        key="gradient_training",
        alt="Right answers of the encoders in training by step, a line each.",
        caption="The share of right answers to sequences that are never learnt from, by step. Dotted: the simple rule, "
        f"which is to {pair.data.task.rule}.",
        figure=draw_pair,
        table=tabulate_pair,
        grows=pair.grows,
    )


def describe_outcome(pair: WatchedVariants) -> str:
    """How much each gets right at the end, and what can be concluded of it (markdown)."""
    recipe = pair.state.runs[0].recipe
    shares = {BY_NAME[each.run.name]: _accuracy(each) for each in pair.state.results}
    parts = [f"**{variant.name}** {share:.1%}" for variant, share in shares.items()]
    outcome = (
        f"After {recipe.steps} steps, right answers to sequences that they never saw: {', '.join(parts)}. The simple "
        f"rule gets {pair.data.baseline:.1%}."
    )
    return f"{outcome} {_compare_shares(shares, pair.state.n_answers)}" if len(shares) > 1 else outcome


def _compare_shares(shares: Mapping[Variant, float], n_answers: int) -> str:
    """Return whether so much can be chance, and in what the two differ (markdown)."""
    first, second = shares
    noise, apart = difference_noise(min(shares.values()), n_answers), abs(shares[first] - shares[second])
    if apart <= noise:
        return f"Up to {100 * noise:.1f} points can be chance."
    differ = "residual connections" * (first.residual != second.residual), "norms" * (first.norm != second.norm)
    return (
        f"They differ in {' and '.join(filter(None, differ))} alone. Each was trained with one seed: another may come "
        "out otherwise."
    )


def _accuracy(result: VariantResult) -> float:
    return result.unbatched.accuracy if result.unbatched else 0.0


def tabulate_pair(pair: WatchedVariants) -> pd.DataFrame:
    """A row an evaluation, a column an encoder."""
    columns = {each.run.title: list_series(each, "accuracy")["validation"] for each in pair.state.results}
    return pd.DataFrame(columns).rename_axis("after step")


def draw_pair(pair: WatchedVariants) -> Figure:
    """The share of right answers so far, a line each, beside the simple rule's."""
    steps = pair.state.runs[0].recipe.steps
    traces = [
        over_steps.level_line(steps, pair.data.baseline, "simple rule", width=1, dash="dot"),
        *run_lines(pair, "validation", "accuracy", _LOOKS),
    ]
    y_axis = {"title": "right answers", "range": [0, 1.04], "tickformat": ".0%"}
    return over_steps.draw_over_steps(traces, steps, y_axis, height=260, legend=True)
