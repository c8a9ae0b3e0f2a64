"""The closer views of the norms page: by token, around each norm, directions; `norm_by_hand` is the fourth.

Beside each stands the same of the pinned run, in the colours or on the axes of the present one.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import streamlit as st

from playground.analysis import streams
from playground.figures import norms as figures
from playground.figures.theme import token_names, token_table
from playground.link.opening import Focus
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.web.choices import widgets
from playground.web.shared import panels
from playground.web.shared.focus_line import Cells, frame_cell
from playground.web.shared.pinned_charts import draw_both
from playground.web.shared.pinning import PinnedRun, beside, say_other_tokens
from playground.web.views.norms.norm_by_hand import draw_one_norm

Lengths = Mapping[str, Array]
"""Of the residual stream, attention and feed-forward: (depths, T), as `streams.lengths` returns them."""

HELP = {
    "view": "tokens: lengths token by token. statistics: mean and standard deviation around every norm. "
    "cosines: where the vectors point. by hand: one norm computed with its numbers.",
    "part": "residual: the residual stream, the vectors between the blocks. attention, feed-forward: the outputs of "
    "these two parts of a block.",
}


def draw_chosen_view(run: Run, focus: Focus, lengths: Lengths) -> None:
    """The view that the visitor chooses."""
    tokens = [token for token, padding in zip(run.tokens, run.padding, strict=True) if not padding]
    view, pinned = widgets.choice("norms_view", "Look closer", help_text=HELP["view"]), beside(run)
    if view == "tokens":
        _draw_tokens(run, focus, lengths, tokens, pinned)
    elif view == "statistics":
        _draw_statistics(run, pinned)
    elif view == "cosines":
        _draw_cosines(run, focus, tokens, pinned)
    else:
        with st.container(key="norm_by_hand"):
            draw_one_norm(run, focus.query, pinned)


def layers_by_depth(run: Run) -> Cells:
    """Depths on an axis as layers: layer 0 leads to depth 1; depth 0, the embeddings, is no layer's."""
    return Cells("layer", {layer + 1: layer for layer in range(run.config.n_layers)})


def _draw_tokens(run: Run, focus: Focus, lengths: Lengths, tokens: list[str], pinned: PinnedRun | None) -> None:
    part = widgets.choice("norms_part", "Length of", help_text=HELP["part"])
    values, first_depth = lengths[part], 0 if part == "residual" else 1
    others = streams.lengths(pinned.run)[part] if pinned and pinned.has_same_tokens else None
    panels.chart(
        "norms_by_token",
        figures.norms_by_token(values, tokens, first_depth=first_depth, beside=others),
        caption="A column is a token. A row is a depth: the number of blocks that the token has passed. A stronger "
        f"colour means a longer vector. The shortest has length {np.nanmin(values):.3g}, the longest "
        f"{np.nanmax(values):.3g}. The frame marks the chosen token after the chosen layer; click a cell to choose.",
        alt=f"Heatmap of the L2 norm of each token's vector by depth: {figures.PARTS[part][0]}",
        overlay=frame_cell(
            "norms_by_token",
            focus,
            rows=layers_by_depth(run),
            columns=Cells.of("query", range(len(tokens))),
            label="The chosen layer, in its row, and token, in its column. Arrow keys move them.",
        ),
        table=lambda: _by_token(values, tokens, first_depth),
    )
    if pinned is None:
        return
    if others is None:
        say_other_tokens("these lengths")
        return
    n_depths, magnitude = min(len(values), len(others)), float(np.nanmax([np.nanmax(values), np.nanmax(others)]))
    change = values[:n_depths] - others[:n_depths]
    draw_both(
        "norms_by_token",
        pinned.name,
        (figures.norms_by_token(others, tokens, first_depth=first_depth, beside=values), others),
        (figures.norms_change_by_token(change, tokens, first_depth=first_depth, magnitude=magnitude), change),
        more="a longer vector",
        table=lambda numbers: _by_token(numbers, tokens, first_depth),
    )


def _by_token(values: Array, tokens: list[str], first_depth: int) -> pd.DataFrame:
    """Lengths (depths, T) as a table with a row a token."""
    return pd.DataFrame(
        values.T, token_names(tokens), [f"depth {depth}" for depth in range(first_depth, first_depth + len(values))]
    )


def _draw_statistics(run: Run, pinned: PinnedRun | None) -> None:
    statistics = streams.norm_statistics(streams.norm_points(run))
    others = streams.norm_statistics(streams.norm_points(pinned.run)) if pinned else None
    table = statistics
    if others is not None:
        columns = statistics.columns
        table = statistics.join(others[columns].add_prefix("pinned "), how="outer", sort=False)
        table = table.join((statistics - others)[columns].add_suffix(", now − pinned"))
    before, after = statistics["std before"], statistics["std after"]
    panels.chart(
        "norm_statistics",
        figures.norm_statistics(statistics, others, pinned.side.name if pinned else ""),
        caption="What does a norm change? Mean and standard deviation (std) are taken over a token's "
        f"{run.config.d_model} features, then averaged over tokens. Inputs of the norms have a std of "
        f"{before.min():.3g} to {before.max():.3g}, outputs {after.min():.3g} to {after.max():.3g}."
        + (" With norm = none, every output equals its input." if run.config.norm == "none" else "")
        + (f" Dotted lines, on the same axes: {pinned.name}." if pinned else ""),
        alt="Standard deviation and mean of the features before and after every norm",
        table=lambda: table,
    )


def _draw_cosines(run: Run, focus: Focus, tokens: list[str], pinned: PinnedRun | None) -> None:
    stream = streams.residual_stream(run)
    depth = widgets.whole("norms_layer", "Depth: blocks passed (0 = embeddings)", high=run.config.n_layers)
    st.caption(
        "The cosine of two vectors compares their directions: 1 means the same, 0 a right angle, −1 the opposite."
    )
    left, right = st.columns(2)
    between, cosines = streams.cosine_between_layers(stream), streams.cosine_between_tokens(stream[depth])
    with left:
        panels.chart(
            "cosines_between_layers",
            figures.cosines_between_layers(between),
            caption="Do the blocks turn a token's vector? Each cell compares two depths, averaged over tokens. "
            f"Embeddings and last block: {between[0, -1]:.2f}.",
            alt="Heatmap of cosines between depths",
            table=lambda: pd.DataFrame(between).rename_axis("blocks passed"),
        )
    with right:
        here, first, last = (streams.mean_of_pairs(streams.cosine_between_tokens(stream[at])) for at in (depth, 0, -1))
        panels.chart(
            "cosines_between_tokens",
            figures.cosines_between_tokens(cosines, tokens),
            caption=f"Do the tokens point the same way? Each cell compares two tokens at depth {depth}. "
            + (
                f"The mean over all pairs is {here:.2f}; at the embeddings {first:.2f}, after the last block "
                f"{last:.2f}."
                if len(tokens) > 1
                else "This sentence has only one."
            ),
            alt=f"Heatmap of cosines between tokens at depth {depth}",
            overlay=frame_cell(
                "cosines_between_tokens",
                focus,
                rows=Cells.of("query", range(len(tokens))),
                columns=Cells.of("key", range(len(tokens))),
                label="The chosen query, in its row, and key, in its column. Arrow keys move them.",
            ),
            table=lambda: token_table(cosines, tokens),
        )
    if pinned is not None:
        _draw_pinned_cosines(pinned, between, cosines, tokens, depth)


def _draw_pinned_cosines(pinned: PinnedRun, between: Array, cosines: Array, tokens: list[str], depth: int) -> None:
    """The pinned run's cosines between depths, and between tokens at the depth that is shown; and their changes."""
    stream = streams.residual_stream(pinned.run)
    others, n = streams.cosine_between_layers(stream), min(len(between), len(stream))
    change = between[:n, :n] - others[:n, :n]
    draw_both(
        "cosines_between_layers",
        pinned.name,
        (figures.cosines_between_layers(others), others),
        (figures.cosines_between_layers(change, change=True), change),
        more="a larger cosine",
        table=lambda numbers: pd.DataFrame(numbers).rename_axis("blocks passed"),
        reading=f" Embeddings and last block: {others[0, -1]:.2f}.",
    )
    if not pinned.has_same_tokens:
        say_other_tokens("cosines between tokens")
        return
    shown = min(depth, len(stream) - 1)
    nearest = "" if shown == depth else f" The nearest: it has no depth {depth}."
    others = streams.cosine_between_tokens(stream[shown])
    draw_both(
        "cosines_between_tokens",
        pinned.name,
        (figures.cosines_between_tokens(others, tokens), others),
        (figures.cosines_between_tokens(cosines - others, tokens, change=True), cosines - others),
        more="a larger cosine",
        table=lambda numbers: token_table(numbers, tokens),
        reading=f" Depth {shown}.{nearest}",
    )
