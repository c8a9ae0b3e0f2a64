"""The masks of a pair: source padding, target padding, no peek, and the two that the decoder combines."""

import numpy as np
import pandas as pd
import streamlit as st

from playground.figures.encoder_decoder import mask_heatmap
from playground.figures.theme import token_names
from playground.web.shared import panels
from playground.web.views.encoder_decoder.pair_input import PairKey, load_run

MASKS = {
    "source padding": "**Source padding** hides [PAD], the filler of short lines. Encoder and cross-attention use it.",
    "target padding": "**Target padding** hides the target's [PAD]: whole columns.",
    "no peek": "**No peek** hides later tokens. A token sees itself and what came before it.",
    "combined": "**Both together**: target padding *and* no peek. The decoder's self-attention uses this mask.",
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
    st.caption(
        "Tutorial E lets padding mask the query *rows* instead of the key columns. "
        + (
            f"Here its padded queries, {n_padding} of them, would attend to nothing. Only no peek would hide padded "
            "keys. It hides them from every real query, as padding comes last. In a source, tokens look ahead: the "
            "same mistake would let all of them read padding."
            if n_padding
            else "That changes nothing here, as this line has no padding. A second, longer target line makes some."
        )
    )
    labels = token_names(run.target.tokens)
    panels.numbers("encdec_masks", lambda: pd.DataFrame(run.masks["combined"].astype(np.uint8), labels, labels))
