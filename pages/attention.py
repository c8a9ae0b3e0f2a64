"""Who attends to whom: every head at once, one head large, and what can be read off it."""

import pandas as pd
import streamlit as st

from playground.analysis.attention import mean_entropy, rollout
from playground.figures import attention as figures
from playground.figures.theme import token_names
from playground.model.attention import Attention, attend
from playground.web.choices import widgets
from playground.web.choices.setup import current_setup
from playground.web.session import caches
from playground.web.shared import panels
from playground.web.shared.head_grid import head_picker
from playground.web.shared.page_end import fragment
from playground.web.views import attention


@fragment
def explorer() -> None:
    """Everything that a choice of head redraws, and nothing else."""
    run = panels.shown_run()
    n_layers, n_heads = run.config.n_layers, run.config.n_heads
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

    heads = run.pattern(layer)
    pattern = heads.mean(axis=0) if average else heads[head]
    picture = pattern - heads[other] if difference else pattern
    name = f"layer {layer}, " + ("average of heads" if average else f"head {head}")
    if difference:
        name += f" minus head {other}"
        reading = "Violet: the first head looks there more; orange: the second."
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
        labels = token_names(run.tokens)
        panels.numbers("attention_pattern", lambda: pd.DataFrame(picture, index=labels, columns=labels))
    with grid:
        with panels.explain_errors():
            thumbnails = caches.head_grid(*current_setup().run_key)
        head_picker(
            "attention_grid",
            thumbnails,
            (n_layers, n_heads),
            (layer, head),
            caption="Every head, small: the stronger the colour, the more weight. Click one to open it. "
            "Colours grow with the square root of the weight, so that faint attention shows too.",
            alt=f"Attention of all {n_layers} layers and {n_heads} heads as thumbnails.",
        )
        panels.numbers("attention_grid", lambda: attention.strongest(run))

    view = widgets.choice("attention_view", "Look closer")
    if view == "lines":
        attention.lines(run, pattern, shown)
    elif view == "ranking":
        attention.ranking(run, pattern)
    elif view == "entropy":
        attention.entropies(run, layer, head)
    else:
        attention.rolled_out(run, layer, shown)


panels.heading("Who attends to whom?")
panels.run_line(panels.current_run())
explorer()
panels.code_behind("attention", attend, Attention, mean_entropy, rollout)
