"""The page Gradient flow: what norms and residual connections do to a gradient."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from playground.analysis.gradients import (
    BY_NAME,
    VARIANTS,
    Flow,
    Norms,
    Variant,
    backward,
    common_config,
    draw_vocabulary,
    variant_config,
    with_variant,
)
from playground.charts import figure as figures
from playground.charts import palette
from playground.charts.chart import (
    Axis,
    Columns,
    Control,
    Curves,
    Group,
    Item,
    Menu,
    Options,
    Paragraph,
    Picture,
    Table,
    fill_panel,
)
from playground.charts.figure import Curve, Figure
from playground.charts.scene import Scene
from playground.config import ModelConfig
from playground.link.lab import Lab, once, read_text
from playground.link.opening import LinkedView
from playground.link.state import RANDOM
from playground.text.wording import join_words, upper_first, write_number, write_share
from playground.training.recipe import Data, Recipe, architecture
from playground.training.variants import VariantRun, VariantsState, difference_noise
from playground.views.regularisers import list_series, run_lines
from playground.words import say

LONGEST = 64
"""A sentence's tokens that take part."""

LIMIT = 1_000
"""A gradient that changes by more from last layer to first does not arrive."""

COLOURS = {
    ("post", True): palette.POST_NORM,
    ("pre", True): palette.PRE_NORM,
    ("none", True): palette.NO_NORM,
    ("post", False): palette.POST_NORM_ALONE,
    ("pre", False): palette.PRE_NORM_ALONE,
    ("none", False): palette.NO_NORM_ALONE,
}
"""By norm and residual."""

SIZES: dict[str, Any] = {"d_model": 32, "n_heads": 4, "d_ff": 64, "max_len": 64}
N_LAYERS = 8
"""Of the trained encoders: deep enough for a difference, small enough to wait for."""


@once
def run_back(lab: Lab, variant: Variant, n_layers: int) -> Flow:
    """Return a variant's backward pass.

    Raises:
        TooLargeError: it has too many parameters, or too many layers for these tokens.
        InputError: a tokenizer has no word for the text, or the position table is too short.
    """
    config = common_config(replace(lab.config, vocab_size=lab.random_table_rows), n_layers)
    text, seed = lab.text_key, lab["seed"]
    batch = read_text(lab.source, replace(text, max_tokens=min(text.max_tokens, LONGEST)))
    ids = batch.ids[lab.sentence][batch.mask[lab.sentence]]
    lab.source.check(config, len(ids))
    encoder = with_variant(lab.source.encoder(RANDOM, config, seed), variant)
    vectors, device = draw_vocabulary(lab.tokenizer, config, seed), next(encoder.parameters()).device
    vectors = None if vectors is None else vectors.to(device)
    return backward(encoder, ids.to(device), vectors=vectors, causal=lab["causal"])


def gradient_scene(view: LinkedView) -> Scene[Lab]:
    """Return the lab without its changes."""
    return Scene(view.lab.without_changes)


def show_gradient_flow(scene: Scene[Lab], options: Options) -> Iterator[Item]:
    """Yield two encoders' gradients, by layer and by the chain rule; raises as `run_back`."""
    part, n_layers, names = options["gradient_of"], options["gradient_layers"], {name: name for name in BY_NAME}
    first, second = (
        Menu(f"gradient_{which}", say("gradient_flow", f"encoder-{which}"), names) for which in ("first", "second")
    )
    layers = Control("gradient_layers", say("gradient_flow", "layers"))
    yield Group("gradient_choices", (Columns(((first,), (second,), (layers,)), gap="medium"),))
    chosen = dict.fromkeys((options["gradient_first"], options["gradient_second"]))
    flows = {name: run_back(scene.now, BY_NAME[name], n_layers) for name in chosen}
    yield Paragraph("  \n".join(_describe_way(name, flow[part], part) for name, flow in flows.items()), "answer")
    yield _gradients_by_layer({name: flow[part] for name, flow in flows.items()}, part)
    yield Paragraph(say("gradient_flow", "terms", tokens=LONGEST), "caption")
    title = say("gradient_flow", "closer")
    yield fill_panel(options, "gradient_six", title, lambda: _show_chain(flows, n_layers), ":material/functions:")


def _describe_way(name: str, norms: Norms, part: str) -> str:
    case, ratio = find_way(norms)
    if case == "broken":
        return say("gradient_flow", "way-broken", name=upper_first(name))
    last = {"name": upper_first(name), "layer": len(norms) - 1}
    return say("gradient_flow", "way", case=case, part=part, ratio=ratio, **last)


def find_way(norms: Norms) -> tuple[str, float]:
    """Return whether a gradient `arrives`, `vanishes`, `explodes` or is `broken`, and first over last."""
    if not np.isfinite(norms).all() or not norms[-1]:
        return "broken", math.nan
    ratio = float(norms[0] / norms[-1])
    return "vanishes" if ratio < 1 / LIMIT else "explodes" if ratio > LIMIT else "arrives", ratio


def _gradients_by_layer(norms: Mapping[str, Norms], part: str) -> Curves[Lab]:
    kind, title = ("stream", "before layer") if part == "stream" else ("weights", "layer")
    return Curves(
        key="gradient_by_layer",
        alt=say("gradient_flow", "by-layer.alt", part=part),
        caption=say("gradient_flow", f"by-layer-{kind}", part=part),
        curves=lambda _: [_draw_line(name, each) for name, each in norms.items()],
        x=Axis(title),
        y=figures.length_axis("length of the gradient"),
        height=320,
        table=lambda _: pd.DataFrame(norms).rename_axis(title),
    )


def _draw_line(name: str, norms: Norms) -> Curve:
    variant, shown = BY_NAME[name], np.where(np.isfinite(norms) & (norms > 0), norms, np.nan)
    dash = None if variant.residual else "dash"
    return Curve(name, np.arange(len(norms)), shown, COLOURS[variant.norm, variant.residual], dash=dash)


def _show_chain(flows: Mapping[str, Flow], n_layers: int) -> Iterator[Item]:
    rows = {}
    for name, flow in flows.items():
        _, ratio = find_way(flow["stream"])
        factors = write_number(ratio ** (1 / n_layers), 4), write_number(ratio)
        rows[f"**{name}**"] = f"${BY_NAME[name].factor}$", *factors
    yield Control("gradient_of", say("gradient_flow", "part"))
    table = pd.DataFrame.from_dict(rows, orient="index", columns=["a sublayer f", "a layer on average", "all"])
    yield Paragraph(
        r"\frac{\partial \mathcal{L}}{\partial x_0} = \frac{\partial \mathcal{L}}{\partial x_L}"
        r"\prod_{l=L-1}^{0} \frac{\partial x_{l+1}}{\partial x_l}",
        "formula",
    )
    yield Table[Lab](key="gradient_chain", frame=lambda _: table, is_markdown=True)
    yield Paragraph(say("gradient_flow", "chain", layers=n_layers), "caption")


def pair_recipe(seed: int) -> Recipe:
    """Return how both are trained."""
    return Recipe(
        task="copy", length=8, n_symbols=8, n_train=4_096, n_validation=256, steps=120, batch_size=32,
        optimizer="adamw", lr=1e-3, warmup=20, seed=seed,
    )  # fmt: skip


def pair_trainings(config: ModelConfig, pair: Sequence[Variant], recipe: Recipe, data: Data) -> tuple[VariantRun, ...]:
    """Return trainings that differ in the variant alone; raises as `architecture`."""
    shared = replace(architecture(common_config(config, N_LAYERS), recipe, data), dropout=0.0)
    return tuple(VariantRun(variant.name, variant.name, recipe, variant_config(shared, variant)) for variant in pair)


def show_pair(scene: Scene[VariantsState]) -> Iterator[Item]:
    """Yield what each has learnt."""
    state = scene.now
    if state.results and state.n_ended == len(state.runs):
        yield Paragraph(say("gradient_flow", "outcome", **find_outcome(scene.now)))
    yield Picture[VariantsState](
        key="gradient_training",
        alt=say("gradient_flow", "training.alt"),
        caption=say("gradient_flow", "training.caption", rule=say("training", f"rule-{state.data.task.name}")),
        figure=draw_pair,
        table=lambda pair: pd.DataFrame(
            {each.run.title: list_series(each, "accuracy")["validation"] for each in pair.results}
        ).rename_axis("after step"),
    )


def find_outcome(pair: VariantsState) -> dict[str, Any]:
    """Return both shares right, the simple rule's, and which difference can be chance."""
    shares = {each.run.name: each.in_use.accuracy if each.in_use else 0.0 for each in pair.results}
    return {
        "steps": pair.runs[0].recipe.steps,
        "shares": join_words([f"*{name}* **{write_share(share)}**" for name, share in shares.items()]),
        "rule": pair.data.baseline,
        "noise": difference_noise(min(shares.values()), pair.data.validation.n_answers),
    }


def draw_pair(pair: VariantsState) -> Figure:
    """Return shares right by step beside the simple rule's."""
    steps = pair.runs[0].recipe.steps
    dashes = {True: "solid", False: "dash"}
    looks = {
        each.name: {"color": COLOURS[each.norm, each.residual], "width": 2, "dash": dashes[each.residual]}
        for each in VARIANTS
    }
    traces = [
        figures.level_line(steps, pair.data.baseline, "simple rule", width=1, dash="dot"),
        *run_lines(pair, "validation", "accuracy", looks),
    ]
    y_axis = {"title": "right answers", "range": [0, 1.04], "tickformat": ".0%"}
    return figures.draw_over_steps(traces, steps, y_axis, height=260, legend=True)
