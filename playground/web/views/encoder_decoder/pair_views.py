"""What the encoder–decoder page shows of a run: masks, the three attentions, and the next words."""

import numpy as np
import pandas as pd
import streamlit as st

from playground.figures import attention as figures
from playground.figures.encoder_decoder import mask_heatmap
from playground.figures.theme import token_names
from playground.runs.pair_run import PairRun, Side
from playground.web.choices import widgets
from playground.web.choices.setup import is_random
from playground.web.session import caches, pair_cache, trained_slot
from playground.web.shared import panels
from playground.web.shared.head_grid import head_picker
from playground.web.shared.page_end import fragment
from playground.web.views.encoder_decoder.pair_input import PairKey

BEST = 10
"""Rows of the table of next words."""

MASKS = {
    "source padding": "**Source padding.** Hides the source's padding, from the encoder and from cross-attention.",
    "target padding": "**Target padding.** Hides the target's padding: whole columns.",
    "no peek": "**No peek.** A token sees itself and what came before it.",
    "combined": "**Both together**, target padding *and* no peek: the decoder's self-attention.",
}
ATTENTIONS = {
    "encoder self": "The encoder's self-attention: the source reads itself, in both directions.",
    "decoder self": "The decoder's masked self-attention: the target so far reads itself.",
    "cross": "Cross-attention: the target asks, the encoder's output answers; keys and values come from the source.",
}


UNTRAINED = ":orange-badge[untrained: random weights]"


def run_line(run: PairRun, pair: PairKey, weights: str, seed: int) -> None:
    """How much was computed, where, how fast, and whether anything of it was learned."""
    where = "a GPU" if run.device == "cuda" else "CPU"
    learned = trained_slot.weights_label(pair[4])
    st.caption(
        f"{_counted(run.source, 'source')} · {_counted(run.target, 'target')} · {run.config.n_layers} layers × "
        f"{run.config.n_heads} heads in each half · {1000 * run.seconds:.0f} ms on {where} · {learned or UNTRAINED}"
    )
    if learned is None and weights != "random":
        st.caption(
            "A trained decoder to go with the sidebar's weights does not exist: both halves have random weights, in "
            f"the sidebar's shape, drawn from its seed {seed}."
        )


def _counted(side: Side, name: str) -> str:
    n_padding = side.padding.size - side.n_real
    return f"{side.n_real} {name} tokens{f' + {n_padding} padding' if n_padding else ''}"


def masks(run: PairRun) -> None:
    """Who may look at whom: three masks, and the two that the target's self-attention combines."""
    st.caption("Rows ask, columns are looked at. **Violet is True: the query may attend to the key**; grey is hidden.")
    for column, (name, caption) in zip(st.columns(len(MASKS)), MASKS.items(), strict=True):
        keys, of = (run.source, "source") if name == "source padding" else (run.target, "target")
        with column:
            panels.chart(
                f"encdec_mask_{name.replace(' ', '_')}",
                mask_heatmap(run.masks[name], run.target.tokens, keys.tokens, ("target token", f"{of} token")),
                caption=caption,
                alt=f"Mask: {name}; {int(run.masks[name].sum())} of {run.masks[name].size} pairs may attend.",
            )
    n_padding = run.target.padding.size - run.target.n_real
    st.caption(
        "Tutorial E lets padding mask the query *rows* instead of the key columns: "
        + (
            f"its {n_padding} padded queries would attend to nothing, and padded keys would be hidden only where "
            "no-peek hides them. Padding comes last, so that is from every real query; in a source, where tokens look "
            "ahead, the same mistake would let all of them read padding."
            if n_padding
            else "no different here, as this line has no padding; a second, longer target line makes some."
        )
    )
    labels = token_names(run.target.tokens)
    panels.numbers("encdec_masks", lambda: pd.DataFrame(run.masks["combined"].astype(np.uint8), labels, labels))


@fragment
def attentions(pair: PairKey) -> None:
    """One of the three attentions: every head, and one large."""
    with panels.explain_errors():
        run = pair_cache.run(*pair)
    attention = widgets.choice("encdec_attention", "Which attention")
    queries, keys = run.sides(attention)
    patterns = np.where(queries.padding[:, None], 0, run.patterns[attention])  # nobody reads what padding attends to
    n_layers, n_heads, n_queries, n_keys = patterns.shape
    left, right = st.columns(2)
    with left:
        layer = widgets.whole("encdec_layer", "layer", high=n_layers - 1)
    with right:
        head = widgets.whole("encdec_head", "head", high=n_heads - 1)
    pattern = patterns[layer, head]
    visible = run.allowed(attention) & ~queries.padding[:, None]
    n_choices = int(visible[queries.n_real - 1].sum())
    asks, answers = (r"\mathrm{source}" if side is run.source else r"\mathrm{target}" for side in (queries, keys))
    st.latex(
        rf"\underbrace{{\mathrm{{softmax}}(Q_{{{asks}}} K_{{{answers}}}^\top / \sqrt{{{run.config.d_head}}})}}"
        rf"_{{{n_queries} \times {n_keys}}}\, V_{{{answers}}}"
    )

    grid, large = st.columns(2, gap="medium")
    with large:
        panels.chart(
            "encdec_pattern",
            figures.head_heatmap(pattern, queries.tokens, visible, keys=keys.tokens, stretch=True),
            caption=f"**{attention}, layer {layer}, head {head}.** Each row is one token asking; its weights add up to "
            f"1. The last query may look at {n_choices} keys: spread evenly, {1 / n_choices:.3f} each; its largest "
            f"weight is {pattern[queries.n_real - 1].max():.3f}. Grey is masked, or a padded query.",
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
            caption=f"{ATTENTIONS[attention]} Rows of a thumbnail ask, columns are looked at; colours grow with the "
            "square root of the weight. Click one to open it.",
            alt=f"Attention of all {n_layers} layers and {n_heads} heads as thumbnails: {attention}.",
        )
        largest = patterns.max(axis=(2, 3))
        panels.numbers(
            "encdec_grid",
            lambda: pd.DataFrame(largest).rename_axis("layer").rename_axis("head", axis=1),
            "Every head's largest weight",
        )


@fragment
def next_words(pair: PairKey) -> None:
    """The words that the logits of one target position rank highest."""
    with panels.explain_errors():
        run = pair_cache.run(*pair)
    learned = trained_slot.weights_label(pair[4])
    st.caption(
        f"{f'{learned}.' if learned else UNTRAINED} The softmax of the logits at one target position, best first. "
        + (
            "Training raises the probabilities of the words that do follow; until then the order is chance."
            if is_random(pair[4])
            else "After [BOS] comes the first token; after the last one, where it has learnt that, [EOS], the end."
        )
    )
    last = run.target.n_real - 1
    position = widgets.whole("encdec_position", "target token, by its position", high=last)
    probabilities, vocabulary = run.next_words(position), caches.tokenizer(pair[2])
    best = np.argsort(-probabilities, kind="stable")[:BEST]
    st.text(f"So far: {' '.join(run.target.tokens[: position + 1])}")
    st.dataframe(
        pd.DataFrame(
            {
                "next token": [vocabulary.id_to_token(int(word)) for word in best],
                "probability, %": 100 * probabilities[best],
                "logit": run.logits[position, best],
                "times an even guess": probabilities.size * probabilities[best],
            },
            index=pd.RangeIndex(1, len(best) + 1, name="place"),
        ),
        key="encdec_next",
        height="content",
        column_config={
            "probability, %": st.column_config.NumberColumn(format="%.3g"),
            "logit": st.column_config.NumberColumn(format="%.3f"),
            "times an even guess": st.column_config.NumberColumn(format="× %.3g"),
        },
    )
    even = f"An even guess gives each of the {probabilities.size:,} words {100 / probabilities.size:.3g} %."
    if position < last:
        word = run.target.ids[position + 1]
        place = 1 + int((probabilities > probabilities[word]).sum())
        st.text(f"Your target goes on with: {run.target.tokens[position + 1]}")
        even += f" The word that your target goes on with has {100 * probabilities[word]:.3g} %, place {place:,}."
    st.caption(even)
