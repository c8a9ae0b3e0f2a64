"""How many heads can go: what is left without ever more of them, and what that saves.

Legend: P sizes, each a number of heads that are taken out. NaN is what is not measured yet.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from playground.accounting import Count, count_attention_head, count_flops, count_parameters
from playground.accounting.readable import in_millions
from playground.analysis.sweeps import Order, pruned_sizes, remove_heads
from playground.charts import palette
from playground.charts.chart import (
    Axis,
    Curves,
    Item,
    Options,
    Paragraph,
)
from playground.charts.figure import Array, Curve, Mark
from playground.charts.scene import Scene
from playground.config import ModelConfig
from playground.model.changes import Change
from playground.runs.encoder_run import Run
from playground.text.wording import with_minus
from playground.views.what_if.parts import offer_changes


@dataclass(frozen=True, eq=False)
class Pruning:
    """What is left of an untouched run without ever more heads."""

    run: Run
    order: Order
    """In which heads go."""
    left: Array
    """(1 + random orders, P), this order first."""
    title: str
    """What is left, as an axis says it."""
    number: str
    """The format of a value in a sentence."""
    measured_on: str
    """What that is, and what heads are sorted by, as a caption says it."""


def show_pruning(scene: Scene[Pruning], options: Options) -> Iterator[Item]:
    """What is left and what is saved without `whatif_pruned` heads, the curves, and the button that takes them out."""
    pruning, config = scene.now, scene.now.run.config
    sizes = pruned_sizes(config)
    place = min(options["whatif_pruned"] // sizes.step, len(sizes) - 1)
    n = sizes[place]
    yield Paragraph(_describe_left(pruning, place, n), "answer")
    heads = remove_heads(pruning.order, n, config)
    yield Paragraph(_describe_saved(config, heads, pruning.run.n_real))
    yield Curves[Pruning](
        key="pruning_curves",
        alt="What is left as more and more heads are off, the least important first, beside random orders",
        caption=f"**What is left as more and more heads are off.** {pruning.measured_on}, each head measured alone, "
        f"the least effect first. The grey band spans {len(pruning.left) - 1} random orders, the grey line is their "
        "mean: the higher the other line runs above it, the more the sorting is worth. A head that is taken out "
        "gathers nothing, its z is 0; nothing is trained anew.",
        curves=_pruning_curves,
        x=Axis("heads taken out", options={"range": [-0.5, sizes[-1] + 0.5]}),
        y=[lambda _: {"title": pruning.title}],
        marks=[Mark(n, dash="solid", colour=palette.FOCUS)],
        height=340,
        table=_list_curves,
    )
    label = f"Take these {n} heads out" if n != 1 else "Take this head out"
    yield offer_changes("whatif_take_out", {label: merge_layers(heads, config)})


def _pruning_curves(pruning: Pruning) -> list[Curve]:
    """Random orders as a band with their mean, where all of them are measured, and the line of the order."""
    sizes, number, random = np.array(pruned_sizes(pruning.run.config)), pruning.number, pruning.left[1:]
    known = np.isfinite(random).all(axis=0)
    measured = random[:, known]
    return [
        Curve(
            "random order", sizes[known], measured.mean(axis=0), palette.RESIDUAL, measured.min(axis=0),
            measured.max(axis=0), hover=f"random order, mean: %{{y:{number}}}",
            band=f" (%{{customdata[0]:{number}}} to %{{customdata[1]:{number}}})<extra></extra>", marker=0,
        ),
        Curve(
            "least effect first", sizes, pruning.left[0], palette.ATTENTION,
            hover=f"least effect first: %{{y:{number}}}<extra></extra>", marker=0,
        ),
    ]  # fmt: skip


def _list_curves(pruning: Pruning) -> pd.DataFrame:
    names = ["least effect first", *(f"random order {number}" for number in range(len(pruning.left) - 1))]
    sizes = pd.Index(pruned_sizes(pruning.run.config), name="heads taken out")
    return pd.DataFrame(pruning.left.T, index=sizes, columns=names)


def merge_layers(heads: Sequence[Change], config: ModelConfig) -> list[Change]:
    """The changes that take heads out, as few as there can be: one for a layer of which every head is out."""
    merged: list[Change] = []
    for layer in range(config.n_layers):
        out = [each for each in heads if each.layer == layer]
        merged += [Change("zero", layer)] if len(out) == config.n_heads > 1 else out
    return merged


def _describe_left(pruning: Pruning, place: int, n: int) -> str:
    left, random, number = pruning.left[0, place], pruning.left[1:, place], pruning.number
    n_heads = pruning.run.config.n_layers * pruning.run.config.n_heads
    which = " with the least effect" if 0 < n < n_heads else ""
    subject = f"**Without {'the ' * bool(which)}{n} of {n_heads} heads{which}**"
    if not np.isfinite(left):
        return f"{subject}: not measured yet."
    known = random[np.isfinite(random)]
    beside = (
        f", and {known.mean():{number}} in random order ({known.min():{number}} to {known.max():{number}})"
        if known.size
        else ""
    )
    return with_minus(f"{subject}, {pruning.title}: **{left:{number}}**{beside}.")


def _describe_saved(config: ModelConfig, heads: Sequence[Change], n_tokens: int) -> str:
    """What a model that is built without these heads saves."""
    own, whole = len(heads) * count_attention_head(config).total, count_parameters(config).total
    flops, all_flops = _count_saved_flops(config, heads, n_tokens), count_flops(config, n_tokens).total
    return (
        f"A model built without them saves {in_millions(own)} of {in_millions(whole)} parameters ({own / whole:.1%}) "
        f"and {flops / all_flops:.1%} of the FLOPs at {n_tokens} tokens. Here they are only set to zero, which saves "
        "nothing."
    )


def _count_saved_flops(config: ModelConfig, heads: Sequence[Change], n_tokens: int) -> int:
    """These heads' floating-point operations: each has its share of its layer's attention.

    Keys and values that several heads read are computed without them too.
    """
    kept = ("K", "V") if config.kv_heads < config.n_heads else ()
    terms = [term for term in count_flops(config, n_tokens) if term.component == "attention" and term.part not in kept]
    of_layer = Count(tuple(terms)).by(lambda term: term.layer)
    return sum(of_layer[head.layer] for head in heads) // config.n_heads
