"""The maps of parts: what each one's absence changes, drawn where it stands in the model."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from playground.analysis.effects.sweeps import compare_together, list_pairs
from playground.figures import what_if
from playground.figures.attention import head_heatmap
from playground.figures.theme import token_names, token_table
from playground.link.opening import Focus
from playground.model.changes import SUBLAYERS, Change
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.web.shared import panels
from playground.web.shared.focus_line import Cells, frame_cell
from playground.web.shared.markdown import quote_place
from playground.web.views.what_if import head_points
from playground.web.views.what_if.change_buttons import offer_changes
from playground.web.views.what_if.measurements.part_numbers import PartNumbers


def draw_heads(numbers: PartNumbers, run: Run, focus: Focus, sublayers: PartNumbers) -> None:
    """The heads' effects beside the spread of their patterns, both as points, and a layer's heads together."""
    config = run.config
    effects = numbers.effects().reshape(config.n_layers, config.n_heads)
    places = list(np.ndindex(effects.shape))
    st.markdown(_describe_largest(numbers, lambda i: "layer {}, head {}".format(*places[i])))
    left, right = st.columns(2, gap="medium")
    frame = partial(
        frame_cell,
        focus=focus,
        rows=Cells.of("layer", range(config.n_layers)),
        columns=Cells.of("head", range(config.n_heads)),
        label="The chosen layer, in its row, and head, in its column. Arrow keys move them.",
    )
    table = _by_layer(effects, [f"head {head}" for head in range(config.n_heads)])
    with left:
        panels.chart(
            "head_effects",
            what_if.effects_by_head(effects, numbers.bar, signed=numbers.signed),
            caption=f"**Effect of each head, switched off alone{numbers.instead}:** {numbers.meaning}. Click "
            "a cell to choose its head.",
            alt="Effect of every head by layer",
            overlay=frame("head_effects"),
            table=lambda: table,
        )
    attention = sublayers.effects().reshape(config.n_layers, len(SUBLAYERS))[:, list(SUBLAYERS).index("attn")]
    together = head_points.describe_together(compare_together(effects, attention), config.n_heads, numbers)
    head_points.draw_spread(run, effects, focus, together, beside=right, overlay=frame("head_spread"))
    label = f"Switch off layer {focus.layer}, head {focus.head}"
    offer_changes("whatif_switch", {label: [Change("zero", focus.layer, focus.head)]})


def draw_sublayers(numbers: PartNumbers, run: Run, focus: Focus) -> None:
    """The sublayers' effects, and buttons that switch those of the focused layer off."""
    n_layers = run.config.n_layers
    effects = numbers.effects().reshape(n_layers, len(SUBLAYERS))
    names = [f"layer {layer}, {name}" for layer in range(n_layers) for name in SUBLAYERS.values()]
    st.markdown(_describe_largest(numbers, names.__getitem__))
    panels.chart(
        "sublayer_effects",
        what_if.effects_by_sublayer(effects, numbers.bar, signed=numbers.signed),
        caption=f"**Effect of each sublayer, switched off alone{numbers.instead}:** {numbers.meaning}. "
        "Click a row to choose its layer.",
        alt="Effect of attention and feed-forward by layer",
        overlay=frame_cell(
            "sublayer_effects",
            focus,
            rows=Cells.of("layer", range(n_layers)),
            label="The chosen layer. Arrow keys move it.",
        ),
        table=lambda: _by_layer(effects, list(SUBLAYERS.values())),
    )
    offers = {
        f"Switch off {name} in layer {focus.layer}": [Change("off", focus.layer, None, (sublayer,))]
        for sublayer, name in SUBLAYERS.items()
    }
    offer_changes("whatif_switch", offers)


def draw_pairs(numbers: PartNumbers, run: Run, focus: Focus) -> None:
    """The effects of the focused head's pairs of tokens, cut one at a time."""
    pairs, n_tokens = list_pairs(run), len(run.tokens)
    effects = np.full((n_tokens, n_tokens), np.nan, np.float32)
    effects[tuple(np.transpose(pairs))] = numbers.effects()
    st.markdown(_describe_largest(numbers, lambda i: " → ".join(quote_place(run.tokens, at) for at in pairs[i])))
    real = ~run.padding
    shown = np.flatnonzero(real).tolist()
    panels.chart(
        "pair_effects",
        head_heatmap(
            effects,
            run.tokens,
            np.isfinite(effects),
            shown=real,
            signed=numbers.signed,
            magnitude=1.0 if not np.nanmax(np.abs(effects), initial=0) > 1e-6 else None,
            bar=numbers.bar,
            reading="%{y} does not attend to %{x}",
        ),
        caption=f"**Effect of each pair of layer {focus.layer}, head {focus.head}, cut alone before the "
        f"softmax{numbers.instead}**, so that the query's other keys share its weight: {numbers.meaning}. Grey pairs "
        "are not measured yet, or cannot be cut. Click a cell to choose its pair.",
        alt=f"Effect of every pair of tokens in layer {focus.layer}, head {focus.head}",
        overlay=frame_cell(
            "pair_effects",
            focus,
            rows=Cells.of("query", shown),
            columns=Cells.of("key", shown),
            label="The chosen query, in its row, and key, in its column. Arrow keys move them.",
        ),
        table=lambda: token_table(effects, run.tokens).loc[real, real],
    )
    if (focus.query, focus.key) in pairs:
        pair = " → ".join(quote_place(run.tokens, at) for at in (focus.query, focus.key))
        cut = Change("weight", focus.layer, focus.head, (focus.query, focus.key, 0.0))
        offer_changes("whatif_switch", {f"Cut {pair} in this head": [cut]})


def draw_hidden(numbers: PartNumbers, run: Run, focus: Focus) -> None:
    """The effects of tokens that one layer's other tokens do not see."""
    tokens = [token for token, is_padding in zip(run.tokens, run.padding, strict=True) if not is_padding]
    effects = numbers.effects().reshape(run.config.n_layers, len(tokens))
    places = list(np.ndindex(effects.shape))
    st.markdown(_describe_largest(numbers, lambda i: f"{quote_place(tokens, places[i][1])} in layer {places[i][0]}"))
    panels.chart(
        "hidden_tokens",
        what_if.effects_by_position(effects, tokens, numbers.bar, signed=numbers.signed),
        caption=f"**Effect where no other token of a layer attends to this one, in any head{numbers.instead}; the "
        f"token still attends to itself:** {numbers.meaning}. Click a cell to choose its layer and its token, as the "
        "key.",
        alt="Effect of every token, hidden from the others, by layer",
        overlay=frame_cell(
            "hidden_tokens",
            focus,
            rows=Cells.of("layer", range(run.config.n_layers)),
            columns=Cells.of("key", range(len(tokens))),
            label="The chosen layer, in its row, and key, in its column. Arrow keys move them.",
        ),
        table=lambda: _by_layer(effects, token_names(tokens)),
    )
    if np.delete(run.allowed[~run.padding, focus.key], focus.key).any():
        word = quote_place(run.tokens, focus.key)
        layers = {"in every layer": range(run.config.n_layers), f"in layer {focus.layer} alone": [focus.layer]}
        offer_changes(
            "whatif_switch",
            {
                f"Hide {word} {where}": [Change("hide", layer, None, (focus.key,)) for layer in chosen]
                for where, chosen in layers.items()
            },
        )


def _by_layer(effects: Array, columns: Sequence[str]) -> pd.DataFrame:
    return pd.DataFrame(effects, columns=list(columns)).rename_axis("layer")


def _describe_largest(numbers: PartNumbers, name: Callable[[int], str], most: int = 3) -> str:
    """The parts that matter most among those that are measured, with their numbers."""
    effects, sizes = numbers.effects(), numbers.sizes
    order = [int(i) for i in np.argsort(-np.nan_to_num(sizes, nan=-1), kind="stable") if np.isfinite(sizes[i])]
    if not order:
        return "No finite effect is measured so far: the numbers have left the range of 32-bit floats."
    listed = "; ".join(f"{name(i)} ({numbers.written(effects[i])})" for i in order[:most])
    so_far = "" if len(order) == len(effects) else f", of {len(order):,} measured so far"
    by_size = ", by size" if numbers.signed else ""
    return f"**Largest effects{by_size}{so_far}:** {listed}. The median is {numbers.written_median()}."
