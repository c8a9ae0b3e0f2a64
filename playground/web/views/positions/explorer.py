"""The positions page's parts: the table, and what it does to this sentence's words."""

import numpy as np
import pandas as pd
import streamlit as st

from playground.analysis import positions
from playground.figures import positions as figures
from playground.figures.theme import token_names
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.web.choices import widgets
from playground.web.choices.setup import current_setup
from playground.web.components.token_chips import draw_token_chips
from playground.web.session import caches
from playground.web.shared import panels
from playground.web.shared.page_end import fragment
from playground.web.views.positions import position_table

KINDS = {
    "learned": "**A learned table**: its rows are parameters, like every other weight.",
    "sinusoidal": "**Sines and cosines**, each pair of dimensions slower than the one before; nothing here is learned.",
    "sinusoidal-doubled": "**Tutorial B's sines and cosines**: its exponent counts twice, so that most hardly move.",
    "none": "**This encoder adds no positions** (`positions = none`). The standard table stands here to compare with.",
}


def current_rows() -> Array:
    """The table's first rows, the standard one's where the encoder has none; ends the page where it can't be had."""
    setup = current_setup()
    with panels.explain_errors():
        return caches.position_rows(setup.weights, setup.config, setup["seed"])


def table(run: Run, rows: Array) -> None:
    """The table that the model uses."""
    random = run.config.positions == "learned" and current_setup().is_random
    caution = " These are random: nothing was learned yet." if random else ""
    st.markdown(
        f"Attention sees a set of vectors, whatever their order. The remedy is a table: its row $P_t$ is added to the "
        f"token at position $t$. {KINDS[run.config.positions]}{caution}"
    )
    panels.chart(
        "position_table",
        figures.table_heatmap(rows),
        caption=f"A row is what is added at one position. {_drawn(run, rows)} Colours end at "
        f"±{figures.colour_limit(_shown(rows)):.3g}; at least 99 % of the numbers keep within. {_row_lengths(rows)}",
        alt="Heatmap of the position table: positions in rows, dimensions in columns.",
    )
    panels.numbers("position_table", lambda: pd.DataFrame(_shown(rows)).rename_axis("position"))


@fragment
def look_closer() -> None:
    """One of the page's other views."""
    run, rows = panels.shown_run(), current_rows()
    view = widgets.choice("positions_view", "Look closer")
    if view == "swap two words":
        show_swap(run)
    elif view == "this sentence":
        show_addition(run, rows)
    elif view == "curves":
        position_table.show_curves(run, rows)
    elif view == "similarity":
        position_table.show_similarity(run, rows)
    else:
        position_table.show_exponents(run, len(rows))


def show_swap(run: Run) -> None:
    """What the encoder notices when two words change places."""
    n_tokens = int((~run.padding).sum())
    if n_tokens < 2:
        st.info("One token alone has nothing to change places with.")
        return
    left, right = st.columns(2)
    with left:
        first = widgets.whole("positions_first", "Exchange the token at position", high=n_tokens - 2)
    with right:
        second = widgets.whole("positions_second", "with the token at position", high=n_tokens - 1)
    if first == second:
        st.info("Both are the same token. Choose two different positions to exchange.")
        return
    setup = current_setup()
    with panels.explain_errors():
        swap = caches.swap_words(*setup.run_key, first, second)
    order = list(range(n_tokens))
    order[first], order[second] = second, first
    draw_token_chips(
        [
            (run.tokens[old], str(old), "padding" if old == new else "plain", f"position {new}, before: {old}")
            for new, old in enumerate(order)
        ]
    )
    st.caption("The exchanged sentence, with each token's position before; the faded ones stayed where they were.")
    compared = "the sinusoidal table added" if run.config.positions == "none" else "the table left out"
    panels.chart(
        "swap_differences",
        figures.swap_differences(swap.placed, swap.bare, run.tokens[:n_tokens]),
        caption=f"{positions.describe_swap(run.config, swap, causal=setup['causal'])} Each word's output is compared "
        f"with its own from before, wherever it stands now; the same weights run twice, once with {compared}.",
        alt="Bars: each word's largest change of output after two words changed places, with positions and without.",
    )
    columns = {"with positions": swap.placed, "without positions": swap.bare}
    panels.numbers("swap_differences", lambda: pd.DataFrame(columns, index=token_names(run.tokens[:n_tokens])))


def show_addition(run: Run, rows: Array) -> None:
    """What the table adds to this sentence's embeddings."""
    real = ~run.padding
    n_tokens, config = int(real.sum()), run.config
    tokens = run.arrays["embed.tokens"][real]
    added = positions.addition(tokens, rows[:n_tokens])
    t = min(1, n_tokens - 1)
    scale = r"\sqrt{D}\, " if config.scale_embeddings else ""
    st.latex(rf"x_t = {scale}E_{{\text{{id}}_t}} + P_t")
    st.latex(positions.sum_with_numbers(tokens, rows, t))
    would = "would be" if config.positions == "none" else "is"
    scaled = f"multiplied by √{config.d_model} = {config.d_model**0.5:.3g}" if config.scale_embeddings else "not scaled"
    rest = [f"row 0 of {config.n_segments} segments"] * (config.n_segments > 0) + ["a norm"] * config.embedding_norm
    after = f" Then {' and '.join(rest)} follow{'s' * (len(rest) == 1)}." if rest else ""
    panels.chart(
        "addition_lengths",
        figures.addition_lengths(added, run.tokens[:n_tokens]),
        caption=f"Lengths of a token's embedding ({scaled}), of its position's row, and of their sum. The row {would} "
        f"{added['relative'].min():.3g} to {added['relative'].max():.3g} times as long as the embedding; "
        f"embedding and sum have a mean cosine of {added['cosine'].mean():.3g}.{after}",
        alt="Bars: L2 norm of each token's embedding, its position's row, and their sum.",
    )
    panels.numbers("addition_lengths", lambda: added.set_axis(token_names(run.tokens[:n_tokens])))


def _shown(rows: Array) -> Array:
    return rows[: figures.MAX_POSITIONS, : figures.MAX_DIMENSIONS]


def _drawn(run: Run, rows: Array) -> str:
    n, d = _shown(rows).shape
    return f"Shown: positions 0 to {n - 1} of {run.config.max_len}, dimensions 0 to {d - 1} of {rows.shape[1]}."


def _row_lengths(rows: Array) -> str:
    lengths = np.linalg.norm(rows[: figures.MAX_POSITIONS], axis=1)
    longest = int(lengths.argmax())
    if lengths.max() - lengths.min() < 0.01 * lengths.max():
        return f"Every row has a length of about {lengths.mean():.3g}."
    return f"The longest row is {longest}'s, {lengths[longest]:.3g}; their mean length is {lengths.mean():.3g}."
