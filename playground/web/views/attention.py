"""The attention page: every head as a thumbnail, one pattern large, and four views of it."""

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from playground.analysis.attention import highest_entropy, mean_entropy, rollout
from playground.figures import attention as figures
from playground.figures.theme import token_names, token_table
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.web.choices import widgets
from playground.web.choices.setup import current_setup
from playground.web.components.head_lines import SMALLEST_WEIGHT, draw_head_lines, head_lines, strongest_keys
from playground.web.session import caches
from playground.web.shared import panels
from playground.web.shared.head_grid import head_picker
from playground.web.shared.markdown import quote_token
from playground.web.shared.page_end import fragment

Mask = NDArray[np.bool_]

HELP = {
    "show": "A head is one of the attention computations that run side by side in a layer.",
    "hide": "Leaves out padding and the tokens that the tokenizer added, such as [CLS] and [SEP].",
    "stretch": "Ends the colour scale at the largest weight instead of at 1. A difference is always drawn so.",
    "view": "lines: every query's strongest keys. ranking: one query's keys, the strongest first. "
    "entropy: how spread out each head is. rollout: attention traced back to the input.",
}


@fragment
def explore_heads() -> None:
    """The choice of a layer and its heads, and every chart that depends on it."""
    run = panels.shown_run()
    show = widgets.choice("attention_show", "Show", help_text=HELP["show"])
    average, difference = show == "average of heads", show == "difference of two heads"
    last_head = run.config.n_heads - 1
    with st.container(horizontal=True):
        layer = widgets.whole("attention_layer", "layer", high=run.config.n_layers - 1)
        head = 0 if average else widgets.whole("attention_head", "head", high=last_head)
        other = widgets.whole("attention_other", "minus head", high=last_head) if difference else None
    with st.container(horizontal=True):
        hide = widgets.switch("attention_hide", "hide special tokens", help_text=HELP["hide"])
        stretch = widgets.switch("attention_stretch", "stretch colours", help_text=HELP["stretch"])

    visible = ~run.special if hide else np.full(len(run.tokens), True)
    heads = run.pattern(layer)
    pattern = heads.mean(axis=0) if average else heads[head]
    name = f"layer {layer}, {'average of heads' if average else f'head {head}'}"
    grid, large = st.columns(2, gap="medium")
    with large:
        if other is None:
            sums = "add up to 1" if visible.all() else "add up to 1 or less, as tokens are hidden"
            reading = (
                f"A row is a query, the token that asks; a column is a key, the token asked. A row's weights {sums}."
            )
            _draw_pattern(run, pattern, visible, name, reading, stretch=stretch)
        else:
            reading = f"Violet: head {head} gives more weight. Orange: head {other} gives more."
            _draw_pattern(run, pattern - heads[other], visible, f"{name} minus head {other}", reading, signed=True)
    with grid:
        _draw_grid(run, layer, head)

    view = widgets.choice("attention_view", "Look closer", help_text=HELP["view"])
    if view == "lines":
        _draw_lines(run, pattern, name, visible)
    elif view == "ranking":
        _draw_ranking(run, pattern, name)
    elif view == "entropy":
        _draw_entropies(run, layer, head)
    else:
        _draw_rollout(run, layer, visible)


def _draw_pattern(
    run: Run, pattern: Array, visible: Mask, name: str, reading: str, *, stretch: bool = False, signed: bool = False
) -> None:
    allowed = run.allowed & ~run.padding[:, None]
    if not allowed[np.ix_(visible, visible)].all():
        reading += " Grey cells are masked: padding, or tokens that a causal mask hides."
    panels.chart(
        "attention_pattern",
        figures.head_heatmap(
            pattern,
            run.tokens,
            allowed,
            shown=visible,
            stretch=stretch,
            signed=signed,
            bar="difference" if signed else "weight",
        ),
        caption=f"**{name}.** {reading}",
        alt=f"Attention of {name}: queries in rows, keys in columns.",
        table=lambda: token_table(pattern, run.tokens),
    )


def _draw_grid(run: Run, layer: int, head: int) -> None:
    n_layers, n_heads = run.config.n_layers, run.config.n_heads
    with panels.explain_errors():
        thumbnails = caches.head_grid(current_setup().run_key)
    head_picker(
        "attention_grid",
        thumbnails,
        (n_layers, n_heads),
        (layer, head),
        sliders=("attention_layer", "attention_head"),
        caption="Every head, small: a row is a layer, a column is a head. A stronger colour means more weight; it "
        "follows the square root of the weight, so that faint attention shows too. Click a head to open it.",
        alt=f"Attention of all {n_layers} layers and {n_heads} heads as thumbnails.",
    )
    panels.numbers("attention_grid", lambda: _largest_weights(run))


def _draw_lines(run: Run, pattern: Array, name: str, visible: Mask) -> None:
    query, query_name = _pick_query(run)
    visible = visible & ~run.padding
    n_keys = strongest_keys(max(1, int(visible.sum())))
    colour = f"In colour: {query_name}." if visible[query] else f"{query_name} is hidden."
    draw_head_lines(
        "attention_lines",
        head_lines(pattern, run.tokens, query, shown=visible),
        caption=f"**{name}.** Lines join each query (left) to its strongest keys (right), at most {n_keys}. "
        f"A thicker line means more weight; weights under {SMALLEST_WEIGHT} are left out. {colour}",
        alt=f"Lines from each query to the keys it attends to most, query {query} in colour.",
    )
    panels.numbers("attention_lines", lambda: _query_weights(run, pattern[query]))


def _draw_ranking(run: Run, pattern: Array, name: str) -> None:
    query, query_name = _pick_query(run)
    panels.chart(
        "attention_ranking",
        figures.query_ranking(pattern[query], run.tokens, run.allowed[query]),
        caption=f"**{name}.** What {query_name} attends to, the strongest key first.",
        alt=f"Bars: attention weights of query {query}.",
        table=lambda: _query_weights(run, pattern[query]),
    )


def _draw_entropies(run: Run, layer: int, head: int) -> None:
    real = ~run.padding
    bits, highest = mean_entropy(run.patterns(), real), highest_entropy(run.allowed, real)
    panels.chart(
        "attention_entropy",
        figures.entropy_grid(bits, (layer, head)),
        caption=r"How spread out is each head? Its entropy is $-\sum p \log_2 p$ over keys, averaged over queries. It "
        f"is 0 bits if every query attends to one token, and {highest:.2f} if every query spreads evenly over all keys "
        f"that it may attend to. Layer {layer}, head {head}: {bits[layer, head]:.2f} bits.",
        alt="Mean entropy of every head, in bits.",
        table=lambda: pd.DataFrame(bits).rename_axis("layer").rename_axis("head", axis=1),
    )


def _draw_rollout(run: Run, layer: int, visible: Mask) -> None:
    shares = rollout(run.patterns(), residual=run.config.residual)[layer]
    real = ~run.padding
    residual = "keeps half of each token in place, as the residual connection does, " if run.config.residual else ""
    axes = ("position in the layer", "input token")
    panels.chart(
        "attention_rollout",
        figures.head_heatmap(shares, run.tokens, real & real[:, None], shown=visible, stretch=True, axes=axes),
        caption=f"Where does layer {layer} get its information from? Attention rollout (Abnar & Zuidema 2020) "
        f"estimates it: it averages the heads, {residual}and multiplies the layers. A row shows the share of each "
        "input token in that position.",
        alt=f"Attention rollout from the input to layer {layer}.",
        table=lambda: token_table(shares, run.tokens),
    )


def _largest_weights(run: Run) -> pd.DataFrame:
    """Every head's largest weight, with its query and its key."""
    patterns = run.patterns()
    n_layers, n_heads, n_tokens, _ = patterns.shape
    query, key = np.divmod(patterns.reshape(n_layers * n_heads, -1).argmax(axis=1), n_tokens)
    labels = np.array(token_names(run.tokens))
    return pd.DataFrame(
        {
            "layer": np.repeat(np.arange(n_layers), n_heads),
            "head": np.tile(np.arange(n_heads), n_layers),
            "largest weight": patterns.max(axis=(2, 3)).ravel(),
            "query": labels[query],
            "key": labels[key],
        }
    )


def _query_weights(run: Run, row: Array) -> pd.DataFrame:
    """One query's weights (T,), the largest first."""
    table = pd.DataFrame({"key": token_names(run.tokens), "weight": row})
    return table.sort_values("weight", ascending=False, ignore_index=True)


def _pick_query(run: Run) -> tuple[int, str]:
    """The chosen query's position, and its token and position in words."""
    query = widgets.whole("attention_query", "query, by its position", high=int((~run.padding).sum()) - 1)
    name = f"{quote_token(run.tokens[query])} at position {query}"
    st.markdown(f"Query: {name}")
    return query, name
