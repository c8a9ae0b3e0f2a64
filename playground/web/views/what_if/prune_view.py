"""How many heads can go: the least important are taken out one after the other, and what is left is measured."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from playground.accounting import count_attention_head, count_flops, count_head_flops, count_parameters
from playground.accounting.readable import in_millions
from playground.analysis.effects.sweeps import Order, order_by_effect, pruned_sizes, remove_heads
from playground.config import ModelConfig
from playground.figures.what_if import pruning_curves
from playground.model.changes import Change
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.text.wording import with_minus
from playground.web.choices import widgets
from playground.web.choices.setup import Setup, current_setup
from playground.web.components.without_picture import ask_again
from playground.web.session import caches
from playground.web.shared import panels
from playground.web.views.what_if.change_buttons import offer_changes
from playground.web.views.what_if.measurements import part_numbers, sweep_caches, task_caches
from playground.web.views.what_if.measurements.measuring import keep_measuring
from playground.web.views.what_if.measurements.sweep_caches import SweepKey

LEFT_HELP = (
    "similarity: of the sentence's vector to the untouched one. right answers: of a network that was trained here, on "
    "its validation set."
)


@dataclass(frozen=True)
class Curves:
    """What is left without ever more heads. P sizes."""

    left: Array
    """(1 + random orders, P), by effect first; NaN where it is not measured yet."""
    title: str
    """What is left, as an axis says it."""
    number: str
    """The format of a value in a sentence."""
    measured_on: str
    """What that is, and what heads are sorted by, as a caption says it."""


def draw_pruning() -> None:
    """The curves, the slider of how many heads go, what that saves, and the button that takes them out."""
    setup = current_setup()
    with panels.explain_errors():
        run = caches.run_sentence(setup.untouched_key)
    target = widgets.choice("whatif_left", "Measured by", help_text=LEFT_HELP)
    on_answers = target == "right answers" and setup.trained_network is not None
    if target == "right answers" and not on_answers:
        st.info(
            "Right answers are measured on a network that was trained on the Training page, once its weights are "
            "chosen in the sidebar. This is what is left of the sentence's vector."
        )
    with panels.explain_errors():
        key = setup.untouched_key
        numbers = (
            part_numbers.numbers_on_answers(key, "heads")
            if on_answers
            else part_numbers.numbers_on_vector(key, SweepKey("heads"))
        )
    sizes = pruned_sizes(run.config)
    asked = widgets.whole("whatif_pruned", "Heads taken out", high=sizes[-1], step=sizes.step)
    if not numbers.growing.is_complete:
        st.caption("First, each head is switched off alone: the order in which heads go follows from that.")
        tried = f"{len(numbers.effects()):,} heads"
        keep_measuring("whatif_effects", numbers.identity, numbers.growing, numbers.measure, tried=tried)
        if numbers.growing.is_complete:
            ask_again("whatif_order_again")  # the curves are measured from the next run on, in the place of this bar
        return
    losses = -numbers.effects() if on_answers else numbers.effects()
    order = order_by_effect(losses.reshape(run.config.n_layers, run.config.n_heads))
    curves = _measure_answers(setup, order) if on_answers else _measure_sentences(setup, order)
    _draw_curves(run, order, curves, min(asked // sizes.step, len(sizes) - 1))


def _measure_sentences(setup: Setup, order: Order) -> Curves:
    key = (setup.untouched_key, SweepKey("pruning", order=order))
    with panels.explain_errors():
        growing = sweep_caches.sweep_numbers(*key)
    measure = partial(sweep_caches.measure_rows, *key)
    keep_measuring("whatif_pruning", key, growing, measure, tried=f"{len(growing.numbers):,} sets of heads")
    n = growing.numbers.shape[1]
    whose = "this sentence's vector" if n == 1 else f"the vectors of the text's {n} sentences, a mean"
    return Curves(
        sweep_caches.by_order(growing.numbers.mean(axis=1), setup.config),
        "similarity to the untouched vector",
        ".3f",
        f"The similarity is the cosine between the vector without these heads and the untouched one, of {whose}. Heads "
        f"are sorted by their effect on sentence {setup.sentence + 1}",
    )


def _measure_answers(setup: Setup, order: Order) -> Curves:
    weights, removals = setup.weights, sweep_caches.list_removals(order, setup.config)
    growing = task_caches.task_scores(weights, f"pruning {order}", len(removals))
    measure = partial(task_caches.measure_variants, weights, removals)
    tried = f"{len(removals):,} sets of heads"
    keep_measuring("whatif_pruning", (weights, order), growing, measure, tried=tried)
    n = len(task_caches.validation_sequences(weights))
    return Curves(
        sweep_caches.by_order(growing.numbers[:, task_caches.ACCURACY], setup.config),
        "right answers",
        ".1%",
        f"Right answers: the share of asked positions in {n:,} validation sequences. Heads are sorted by what the "
        "probability of the right answer loses without each, on the same sequences",
    )


def _draw_curves(run: Run, order: Order, curves: Curves, place: int) -> None:
    """What is left and what is saved at one size, by its place in the curves, the curves, and the button."""
    config, sizes = run.config, pruned_sizes(run.config)
    n = sizes[place]
    st.markdown(_describe_left(curves, place, n, config) + _describe_saved(config, n, int((~run.padding).sum())))
    panels.chart(
        "pruning_curves",
        pruning_curves(sizes, curves.left[0], curves.left[1:], n, title=curves.title, number=curves.number),
        caption=f"**What is left without ever more heads.** {curves.measured_on}, each head measured alone, the least "
        f"effect first. The grey band spans {len(sweep_caches.RANDOM_SEEDS)} random orders, the grey line is their "
        "mean: the higher the other line runs above it, the more the sorting is worth. A head that is taken out "
        "gathers nothing, its z is 0; nothing is trained anew.",
        alt="What is left without ever more heads, the least important first, beside random orders",
        table=lambda: _list_curves(sizes, curves),
    )
    taken = remove_heads(order, n, config)
    offer_changes(
        "whatif_take_out",
        {f"Take these {n} heads out" if n != 1 else "Take this head out": merge_layers(taken, config)},
    )


def merge_layers(heads: Sequence[Change], config: ModelConfig) -> list[Change]:
    """The changes that take heads out, as few as there can be: one for a layer of which every head is out."""
    merged: list[Change] = []
    for layer in range(config.n_layers):
        out = [each for each in heads if each.layer == layer]
        merged += [Change("zero", layer)] if len(out) == config.n_heads > 1 else out
    return merged


def _describe_left(curves: Curves, place: int, n: int, config: ModelConfig) -> str:
    left, random = curves.left[0, place], curves.left[1:, place]
    total = config.n_layers * config.n_heads
    subject = f"**Without {n} of {total} heads**"
    if not np.isfinite(left):
        return f"{subject}: not measured yet. "
    number, known = curves.number, random[np.isfinite(random)]
    beside = (
        f", and {known.mean():{number}} in random order ({known.min():{number}} to {known.max():{number}})"
        if known.size
        else ""
    )
    return with_minus(f"{subject}, {curves.title}: **{left:{number}}**{beside}. ")


def _describe_saved(config: ModelConfig, n: int, n_tokens: int) -> str:
    """What a model that is built without these heads saves."""
    head, whole = n * count_attention_head(config).total, count_parameters(config).total
    flops, all_flops = n * count_head_flops(config, n_tokens).total, count_flops(config, n_tokens).total
    return (
        f"A model built without them saves {in_millions(head)} of {in_millions(whole)} parameters ({head / whole:.1%}) "
        f"and {flops / all_flops:.1%} of the FLOPs at {n_tokens} tokens. Here they are only set to zero, which saves "
        "nothing."
    )


def _list_curves(sizes: Sequence[int], curves: Curves) -> pd.DataFrame:
    names = ["least effect first", *(f"random order {seed}" for seed in sweep_caches.RANDOM_SEEDS)]
    return pd.DataFrame(curves.left.T, index=pd.Index(sizes, name="heads taken out"), columns=names)
