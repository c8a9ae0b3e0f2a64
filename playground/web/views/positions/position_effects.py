"""What positions do to this sentence: two words swapped, and the table added to the embeddings."""

import pandas as pd
import streamlit as st

from playground.analysis import positions
from playground.charts.markdown import quote_place
from playground.figures import positions as figures
from playground.figures.theme import token_names
from playground.link.opening import Focus
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.web.choices import widgets
from playground.web.choices.setup import current_setup
from playground.web.components.charts import CellFrame
from playground.web.components.rows import draw_token_chips
from playground.web.shared import panels
from playground.web.shared.focus_line import Cells, frame_cell, show_focus
from playground.web.shared.page_end import fragment
from playground.web.views.positions import exponents, position_cache, position_table
from playground.web.views.positions.pinned_effects import (
    describe_pinned_addition,
    describe_pinned_swap,
    pinned_addition,
    pinned_swap,
    tabulate_addition,
)


@fragment
def show_chosen_view() -> None:
    """The view of the page that the visitor has chosen."""
    run, rows = panels.shown_run(changed=False), position_table.load_rows()
    focus = show_focus(run)
    view = widgets.choice("positions_view", "Look closer")
    if view == "swap two words":
        show_swap(run, focus)
    elif view == "this sentence":
        show_addition(run, focus, rows)
    elif view == "curves":
        position_table.show_curves(run, rows)
    elif view == "similarity":
        position_table.show_similarity(run, focus, rows)
    else:
        exponents.show_exponents(run, len(rows))


def show_swap(run: Run, focus: Focus) -> None:
    """How far each word's output moves when two words change places, with positions and without.

    The two are this view's own: neither asks the other.
    """
    n_tokens = int((~run.padding).sum())
    if n_tokens < 2:
        st.info("This sentence has only one token: there is nothing to swap it with.")
        return
    with st.container(horizontal=True):
        first = widgets.whole("positions_first", "Swap the token at position", high=n_tokens - 2)
        second = widgets.whole("positions_second", "with the token at position", high=n_tokens - 1)
    if first == second:
        st.info("Both sliders name the same token. Choose two different positions to swap.")
        return
    setup = current_setup()
    with panels.explain_errors():
        swap = position_cache.swap_words(setup.untouched_key, first, second)
    if swap.unchanged:
        st.info(
            f"{quote_place(run.tokens, first)} and {quote_place(run.tokens, second)} are the same token to this "
            "encoder. When they change places, the sentence stays as it is, and so does every output. Choose two "
            "different tokens to swap."
        )
        return
    before = pinned_swap(run, first, second)
    order = list(range(n_tokens))
    order[first], order[second] = second, first
    draw_token_chips(
        [
            (run.tokens[old], str(old), "padding" if old == new else "plain", f"position {new}, before: {old}")
            for new, old in enumerate(order)
        ]
    )
    st.caption("The sentence after the swap. Each number is a token's old position; faded tokens did not move.")
    table = "the sinusoidal table" if run.config.positions == "none" else "its position table"
    columns = {"with positions": swap.placed, "without positions": swap.bare}
    if before is not None:
        for name, others in zip(tuple(columns), (before.placed, before.bare), strict=True):
            columns |= {f"{name}, pinned": others, f"{name}, now − pinned": columns[name] - others}
    panels.chart(
        "swap_differences",
        figures.swap_differences(
            swap.placed, swap.bare, run.tokens[:n_tokens], None if before is None else (before.placed, before.bare)
        ),
        caption=f"{positions.describe_swap(run.config, swap, causal=setup['causal'])} A bar is the largest change "
        "among the numbers of one word's output vector. Each word is compared with itself, wherever it stands after "
        f"the swap. Both colours use the same weights: the encoder with {table}, and without it. "
        "Here the blocks compute in 64-bit floats, so that a small change is not taken for rounding."
        f"{describe_pinned_swap(before)}",
        alt="Bars: each word's largest change of output after two words changed places, with positions and without.",
        overlay=_frame_query("swap_differences", focus, n_tokens),
        table=lambda: pd.DataFrame(columns, index=token_names(run.tokens[:n_tokens])),
    )


def show_addition(run: Run, focus: Focus, rows: Array) -> None:
    """How long this sentence's embeddings, their position rows and the sums of both are."""
    real = ~run.padding
    n_tokens, config = int(real.sum()), run.config
    tokens = run.arrays["embed.tokens"][real]
    added = positions.addition(tokens, rows[:n_tokens])
    before = pinned_addition(run)
    is_scaled = config.vocab_size > 0 and config.scale_embeddings
    row = r"E_{\text{id}_t}" if config.vocab_size else "v_t"
    scale = r"\sqrt{D}\, " if is_scaled else ""
    st.latex(rf"x_t = {scale}{row} + P_t")
    st.latex(positions.sum_with_numbers(tokens, rows, focus.query))
    is_added = "would be" if config.positions == "none" else "is"
    scaled = f"multiplied by √{config.d_model} = {config.d_model**0.5:.3g}" if is_scaled else "not scaled"
    later = ["the vector of segment 0 is added"] * (config.n_segments > 0)
    later += ["a norm rescales the sum"] * config.embedding_norm
    after = f" After that, {' and '.join(later)}." if later else ""
    panels.chart(
        "addition_lengths",
        figures.addition_lengths(added, run.tokens[:n_tokens], before),
        caption=f"Bars are lengths (L2 norms) of three vectors: a token's embedding ({scaled}), its position's row, "
        f"and their sum. The row {is_added} {added['relative'].min():.3g} to {added['relative'].max():.3g} times as "
        f"long as the embedding. The mean cosine between embedding and sum is {added['cosine'].mean():.3g}; 1 means "
        f"the same direction.{after}{describe_pinned_addition(before)}",
        alt="Bars: L2 norm of each token's embedding, its position's row, and their sum.",
        overlay=_frame_query("addition_lengths", focus, n_tokens),
        table=lambda: tabulate_addition(added, before).set_axis(token_names(run.tokens[:n_tokens])),
    )


def _frame_query(chart: str, focus: Focus, n_tokens: int) -> CellFrame:
    """What frames the focus's query among bars of every token."""
    label = "The chosen token. Arrow keys choose its neighbours."
    return frame_cell(chart, focus, columns=Cells.of("query", range(n_tokens)), label=label)
