"""The three attentions of a pair: every head as a thumbnail, and one of them large."""

import numpy as np
import pandas as pd
import streamlit as st

from playground.figures import attention as figures
from playground.figures.theme import token_names
from playground.web.choices import widgets
from playground.web.shared import panels
from playground.web.shared.head_grid import head_picker
from playground.web.shared.page_end import fragment
from playground.web.views.encoder_decoder.pair_input import PairKey, load_run

ATTENTIONS = {
    "encoder self": "The encoder's self-attention: the source looks at itself, in both directions.",
    "decoder self": "The decoder's masked self-attention: the target looks at itself, and never ahead.",
    "cross": "Cross-attention: the target looks at the source. Keys and values come from the encoder's output.",
}


@fragment
def show_attention(pair: PairKey) -> None:
    """The chosen one of the three attentions."""
    run = load_run(pair)
    attention = widgets.choice("encdec_attention", "Which attention")
    queries, keys = run.sides(attention)
    patterns = np.where(queries.padding[:, None], 0, run.patterns[attention])  # nobody reads what padding attends to
    n_layers, n_heads, n_queries, n_keys = patterns.shape
    left, right = st.columns(2)
    with left:
        layer = widgets.whole("encdec_layer", "layer", high=n_layers - 1)
    with right:
        head = widgets.whole("encdec_head", "head", high=n_heads - 1)
    query_side, key_side = (
        r"\mathrm{source}" if side is run.source else r"\mathrm{target}" for side in (queries, keys)
    )
    st.latex(
        rf"\underbrace{{\mathrm{{softmax}}(Q_{{{query_side}}} K_{{{key_side}}}^\top / \sqrt{{{run.config.d_head}}})}}"
        rf"_{{{n_queries} \times {n_keys}}}\, V_{{{key_side}}}"
    )
    pattern, visible = patterns[layer, head], run.allowed(attention) & ~queries.padding[:, None]
    last = queries.n_real - 1
    n_visible = int(visible[last].sum())
    grid, large = st.columns(2, gap="medium")
    with large:
        panels.chart(
            "encdec_pattern",
            figures.head_heatmap(pattern, queries.tokens, visible, keys=keys.tokens, stretch=True),
            caption=f"**{attention}, layer {layer}, head {head}.** Each row is one query; its weights add up to 1. "
            f"The last query may look at {n_visible} keys. Spread evenly, each would get {1 / n_visible:.3f}; the "
            f"largest weight is {pattern[last].max():.3f}. Grey is masked, or a padded query.",
            alt=f"Attention weights of {attention}, layer {layer}, head {head}.",
        )
        rows, columns = token_names(queries.tokens), token_names(keys.tokens)
        panels.numbers("encdec_pattern", lambda: pd.DataFrame(pattern, rows, columns))
    with grid:
        head_picker(
            "encdec_grid",
            figures.head_grid(patterns),
            (n_layers, n_heads),
            (layer, head),
            caption=f"{ATTENTIONS[attention]} Each thumbnail is one head: rows are queries, columns are keys. "
            "Colours grow with the square root of the weight. Click a thumbnail to open it.",
            alt=f"Attention of all {n_layers} layers and {n_heads} heads as thumbnails: {attention}.",
        )
        largest = pd.DataFrame(patterns.max(axis=(2, 3))).rename_axis("layer").rename_axis("head", axis=1)
        panels.numbers("encdec_grid", lambda: largest, "Every head's largest weight")
