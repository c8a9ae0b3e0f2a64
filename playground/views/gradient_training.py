"""Two encoders of the page Gradient flow in training: what each has learnt shows what residual connections are for."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from playground.analysis.gradient_variants import VARIANTS, Variant, common_config, variant_config
from playground.charts import over_steps
from playground.charts.chart import Item, Paragraph, Picture
from playground.charts.figure import Figure
from playground.charts.scene import Scene
from playground.config import ModelConfig
from playground.training.recipe import Recipe, architecture
from playground.training.tasks import Data
from playground.training.variants import VariantRun, difference_noise
from playground.views.gradient_flow import COLOURS
from playground.views.training_curves import WatchedVariants, list_series, run_lines
from playground.words import say

SIZES: dict[str, Any] = {"d_model": 32, "n_heads": 4, "d_ff": 64, "max_len": 64}
N_LAYERS = 8
"""Of the encoders that are trained: deep enough for a difference, small enough to be waited for."""

_LOOKS = {
    each.name: {
        "color": COLOURS[each.norm, each.residual],
        "width": 2,
        "dash": "solid" if each.residual else "dash",
    }
    for each in VARIANTS
}


def pair_recipe(seed: int) -> Recipe:
    """How both are trained."""
    return Recipe(
        task="copy", length=8, n_symbols=8, n_train=4_096, n_validation=256, steps=120, batch_size=32,
        optimizer="adamw", lr=1e-3, warmup=20, seed=seed,
    )  # fmt: skip


def pair_trainings(config: ModelConfig, pair: Sequence[Variant], recipe: Recipe, data: Data) -> tuple[VariantRun, ...]:
    """The trainings of these encoders, which share all else of an architecture of `SIZES`; errors as `architecture`."""
    shared = replace(architecture(common_config(config, N_LAYERS), recipe, data), dropout=0.0)
    return tuple(VariantRun(variant.name, variant.name, recipe, variant_config(shared, variant)) for variant in pair)


def show_pair(scene: Scene[WatchedVariants]) -> Iterator[Item]:
    """What each has learnt, in a sentence once both have ended, and step by step."""
    pair = scene.now
    if pair.state.results and pair.state.n_ended == len(pair.state.runs):
        case, numbers = find_outcome(pair)
        yield Paragraph(say("gradient_flow", f"outcome-{case}", **numbers))
    yield Picture[WatchedVariants](
        key="gradient_training",
        alt=say("gradient_flow", "training.alt"),
        caption=say("gradient_flow", "training.caption", rule=say("training", f"rule-{pair.data.task.name}")),
        figure=draw_pair,
        table=lambda pair: pd.DataFrame(
            {each.run.title: list_series(each, "accuracy")["validation"] for each in pair.state.results}
        ).rename_axis("after step"),
        grows=pair.grows,
    )


def find_outcome(pair: WatchedVariants) -> tuple[str, dict[str, Any]]:
    """How much each gets right at the end: `one` alone, two whose difference can be `chance`, or two `apart`."""
    shares = {each.run.name: each.unbatched.accuracy if each.unbatched else 0.0 for each in pair.state.results}
    numbers: dict[str, Any] = {"steps": pair.state.runs[0].recipe.steps, "rule": pair.data.baseline}
    for place, (name, share) in zip(("first", "second"), shares.items(), strict=False):
        numbers |= {place: f"*{name}*", f"{place}_share": share}
    if len(shares) == 1:
        return "one", numbers
    apart = abs(numbers["first_share"] - numbers["second_share"])
    return "chance" if apart <= difference_noise(min(shares.values()), pair.state.n_answers) else "apart", numbers


def draw_pair(pair: WatchedVariants) -> Figure:
    """The share of right answers so far, a line each, beside the simple rule's."""
    steps = pair.state.runs[0].recipe.steps
    traces = [
        over_steps.level_line(steps, pair.data.baseline, "simple rule", width=1, dash="dot"),
        *run_lines(pair, "validation", "accuracy", _LOOKS),
    ]
    y_axis = {"title": "right answers", "range": [0, 1.04], "tickformat": ".0%"}
    return over_steps.draw_over_steps(traces, steps, y_axis, height=260, legend=True)
