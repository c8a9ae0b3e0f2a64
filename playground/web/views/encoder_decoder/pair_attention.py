"""Who may look at whom in a pair, and who does: its masks, its three attentions, and one head large."""

import numpy as np
import pandas as pd
import streamlit as st

from playground.figures import attention as figures
from playground.figures.attention import mask_heatmap
from playground.figures.theme import token_table
from playground.runs.arrays import Array
from playground.web.choices import widgets
from playground.web.session.caches import PairKey
from playground.web.shared import panels
from playground.web.shared.head_map import head_picker
from playground.web.shared.page_end import fragment
from playground.web.shared.saving import Saved, saved_heads
from playground.web.views.encoder_decoder.example_pair import GENDER_HEAD, count_aligned, label_steps
from playground.web.views.encoder_decoder.pair_key import load_run, parameter_of

MASKS = {
    "source padding": "**Source padding** hides [PAD], the filler of short lines. Encoder and cross-attention use it.",
    "target padding": "**Target padding** hides the target's [PAD]: whole columns.",
    "no peek": "**No peek** hides later tokens. A token sees itself and what came before it.",
    "combined": "**Both together**: target padding *and* no peek. The decoder's self-attention uses this mask.",
}

ATTENTIONS = {
    "encoder self": "The encoder's self-attention: the source looks at itself, in both directions.",
    "decoder self": "The decoder's masked self-attention: the target looks at itself, and never ahead.",
    "cross": "Cross-attention: the target looks at the source. Keys and values come from the encoder's output.",
}


def show_masks(pair: PairKey) -> None:
    """Which query may look at which key, mask by mask."""
    run = load_run(pair)
    st.caption(
        "A row is a *query*, the token that looks. A column is a *key*, a token that is looked at. "
        "**Violet is True: the query may attend to the key.** Grey is hidden."
    )
    for column, (name, caption) in zip(st.columns(len(MASKS)), MASKS.items(), strict=True):
        keys, side = (run.source, "source") if name == "source padding" else (run.target, "target")
        with column:
            panels.chart(
                f"encdec_mask_{name.replace(' ', '_')}",
                mask_heatmap(run.masks[name], run.target.tokens, keys.tokens, ("target token", f"{side} token")),
                caption=caption,
                alt=f"Mask: {name}; {int(run.masks[name].sum())} of {run.masks[name].size} pairs may attend.",
            )
    n_padding = run.target.padding.size - run.target.n_real
    if n_padding:
        st.caption(
            "Tutorial E · From Scratch lets padding mask the query *rows* instead of the key columns. "
            f"Here its padded queries, {n_padding} of them, would attend evenly to everything. Only no peek "
            "would hide padded keys. It hides them from every real query, as padding comes last. In a source, tokens "
            "look ahead: the same mistake would let all of them read padding."
        )
    panels.numbers("encdec_masks", lambda: token_table(run.masks["combined"].astype(np.uint8), run.target.tokens))


@fragment
def show_attention(pair: PairKey) -> None:
    """The chosen one of the three attentions."""
    run = load_run(pair)
    attention = widgets.choice(parameter_of(pair, "attention"), "Which attention")
    queries, keys = run.sides(attention)
    patterns = np.where(queries.padding[:, None], 0, run.patterns[attention])  # nobody reads what padding attends to
    n_layers, n_heads, n_queries, n_keys = patterns.shape
    with st.container(horizontal=True):
        layer = widgets.whole(parameter_of(pair, "layer"), "layer", high=n_layers - 1)
        head = widgets.whole(parameter_of(pair, "head"), "head", high=n_heads - 1)
    query_side, key_side = (
        r"\mathrm{source}" if side is run.source else r"\mathrm{target}" for side in (queries, keys)
    )
    st.latex(
        rf"\underbrace{{\mathrm{{softmax}}(Q_{{{query_side}}} K_{{{key_side}}}^\top / \sqrt{{{run.config.d_head}}})}}"
        rf"_{{{n_queries} \times {n_keys}}}\, V_{{{key_side}}}"
    )
    pattern, visible = patterns[layer, head], run.allowed(attention) & ~queries.padding[:, None]
    rows, axes = queries.tokens, ("query: who asks", "key: attended to")
    if pair.is_example and queries is run.target:
        rows, axes = label_steps(pair), ("step: reads → writes", "key: attended to")
    grid, large = st.columns(2, gap="medium")
    with large:
        panels.chart(
            "encdec_pattern",
            figures.head_heatmap(pattern, rows, visible, keys=keys.tokens, axes=axes),
            caption=f"**{attention}, layer {layer}, head {head}.** "
            + _describe_pattern(pair, attention, layer, head, pattern),
            alt=f"Attention weights of {attention}, layer {layer}, head {head}.",
            table=lambda: token_table(pattern, rows, keys.tokens),
            saved=Saved(f"{attention}_attention_layer{layer}_head{head}"),
        )
    with grid:
        head_picker(
            "encdec_grid",
            figures.head_grid(patterns),
            (n_layers, n_heads),
            (layer, head),
            places=(parameter_of(pair, "layer"), parameter_of(pair, "head")),
            caption=f"{ATTENTIONS[attention]} Each thumbnail is one head: rows are queries, columns are keys. "
            "Colours grow with the square root of the weight. Click a thumbnail to open it.",
            alt=f"Attention of all {n_layers} layers and {n_heads} heads as thumbnails: {attention}.",
            saved=saved_heads(
                f"{attention}_attention_all_heads", lambda: patterns, rows, keys.tokens, n_layers * n_heads
            ),
        )
        largest = pd.DataFrame(patterns.max(axis=(2, 3))).rename_axis("layer").rename_axis("head", axis=1)
        panels.numbers("encdec_grid", lambda: largest, "Every head's largest weight")


def _describe_pattern(pair: PairKey, attention: str, layer: int, head: int, pattern: Array) -> str:
    """How to read one head's weights, and what they are."""
    run = load_run(pair)
    n_aligned = count_aligned(pair, pattern) if pair.is_example and attention == "cross" else None
    if n_aligned is not None:
        gender_layer, gender_head = GENDER_HEAD
        return (
            "Each row is a step of the decoder: the word that it reads → the word that it writes. The row's weights "
            f"add up to 1. In {n_aligned} of {run.target.n_real - 1} steps the largest weight lies on the word that is "
            "translated there. "
            + (
                "This head finds the gender: in a step that writes an article, it looks at the noun."
                if (layer, head) == GENDER_HEAD
                else f"Layer {gender_layer}, head {gender_head} does something else: in a step that writes an article, "
                "it looks at the noun, whose gender decides between *le* and *la*."
            )
        )
    queries, _ = run.sides(attention)
    last = queries.n_real - 1
    n_visible = int(run.allowed(attention)[last].sum())
    return (
        "Each row is one query; its weights add up to 1. "
        f"The last query may look at {n_visible} keys. Spread evenly, each would get {1 / n_visible:.3f}; the "
        f"largest weight is {pattern[last].max():.3f}. Grey is masked, or a padded query."
    )
