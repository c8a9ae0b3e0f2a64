"""Who attends to whom: every head at once, one head large, and what can be read off it."""

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from playground.analysis.attention import mean_entropy, rollout
from playground.engine import Run
from playground.figures import attention as figures
from playground.figures.theme import token_labels
from playground.model.attention import Attention, attend
from playground.web import head_views, panels, widgets


def pick_head(n_heads: int) -> None:
    """A click on a thumbnail moves the two sliders."""
    points = st.session_state["attention_grid_chart"].selection.points
    if points:
        layer, head = divmod(points[0]["point_index"], n_heads)
        st.session_state["attention_layer"], st.session_state["attention_head"] = layer, head


@st.fragment
def explorer(run: Run) -> None:
    """Everything that a choice of head redraws, and nothing else."""
    patterns = np.where(run.padding[:, None], 0, run.patterns())  # nobody reads what padding attends to
    n_layers, n_heads = patterns.shape[:2]
    show = widgets.choice("attention_show", "Show")
    average, difference = show == "average of heads", show == "difference of two heads"
    columns = st.columns(3)
    with columns[0]:
        layer = widgets.whole("attention_layer", "layer", high=n_layers - 1)
    with columns[1]:
        head = 0 if average else widgets.whole("attention_head", "head", high=n_heads - 1)
    with columns[2]:
        other = widgets.whole("attention_other", "minus head", high=n_heads - 1) if difference else head
    with st.container(horizontal=True):
        shown = ~run.special if widgets.switch("attention_hide", "hide special tokens") else None
        stretch = widgets.switch("attention_stretch", "stretch colours")

    pattern = patterns[layer].mean(axis=0) if average else patterns[layer, head]
    picture = pattern - patterns[layer, other] if difference else pattern
    name = f"layer {layer}, " + ("average of heads" if average else f"head {head}")
    if difference:
        name += f" minus head {other}"
        reading = "Violet: the first head looks there more; orange: the second. Rows add up to 0."
    else:
        sums = "the row's numbers add up to 1" if shown is None else "with tokens hidden, a row adds up to less than 1"
        reading = f"How to read this: each row is one token asking; {sums}."
    visible = run.allowed & ~run.padding[:, None]
    if not visible.all():
        reading += " Grey is masked: padding, or later tokens."

    grid, large = st.columns(2, gap="medium")
    with large:
        panels.chart(
            "attention_pattern",
            figures.head_heatmap(picture, run.tokens, visible, shown=shown, stretch=stretch, signed=difference),
            caption=f"**{name}.** {reading}",
            alt=f"Attention of {name}: queries in rows, keys in columns.",
        )
        labels = token_labels(run.tokens)
        panels.numbers("attention_pattern", lambda: pd.DataFrame(picture, index=labels, columns=labels))
    with grid:
        panels.chart(
            "attention_grid",
            figures.head_grid(patterns, (layer, head)),
            caption="Every head, small: the stronger the colour, the more weight. Click one to open it. "
            "Colours grow with the square root of the weight, so that faint attention shows too.",
            alt=f"Attention of all {n_layers} layers and {n_heads} heads as thumbnails.",
            on_select=partial(pick_head, n_heads),
            selection_mode="points",
        )

    view = widgets.choice("attention_view", "Look closer")
    if view == "lines":
        head_views.lines(run, pattern, shown)
    elif view == "ranking":
        head_views.ranking(run, pattern)
    elif view == "entropy":
        head_views.entropies(run, patterns, layer, head)
    else:
        head_views.rolled_out(run, patterns, layer, shown)


panels.heading("Who attends to whom?")
current = panels.current_run()
panels.run_line(current)
explorer(current)
panels.code_behind("attention", attend, Attention, mean_entropy, rollout)
