"""The norms page: lengths by depth, and four views: by token, around each norm, directions, one norm by hand."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import streamlit as st

from playground.analysis import norms, streams
from playground.analysis.run_differences import describe_growth_change
from playground.figures import norms as figures
from playground.figures.theme import token_names, token_table
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.web.choices import widgets
from playground.web.choices.focus import Focus
from playground.web.shared import panels
from playground.web.shared.comparison.pinned_side import PinnedSide, pinned_side, run_pinned
from playground.web.shared.focus_line import Cells, frame_cell, show_focus
from playground.web.shared.markdown import escape_markdown, quote_token
from playground.web.shared.page_end import fragment

Lengths = Mapping[str, Array]
"""Of the residual stream, attention and feed-forward: (depths, T), as `streams.lengths` returns them."""

HELP = {
    "view": "tokens: lengths token by token. statistics: mean and standard deviation around every norm. "
    "cosines: where the vectors point. by hand: one norm computed with its numbers.",
    "part": "residual: the residual stream, the vectors between the blocks. attention, feed-forward: the outputs of "
    "these two parts of a block.",
}


@fragment
def explore_lengths() -> None:
    """The focus, and every chart of the page."""
    run = panels.shown_run()
    focus, lengths = show_focus(run), streams.lengths(run)
    side = pinned_side()
    pinned = run_pinned(side)
    if side is None or pinned is None:
        _draw_lengths(run, focus, lengths)
    else:
        _draw_lengths(run, focus, lengths, side, streams.lengths(pinned))
    _draw_details(run, focus, lengths)


def _draw_lengths(
    run: Run, focus: Focus, lengths: Lengths, side: PinnedSide | None = None, pinned: Lengths | None = None
) -> None:
    """Mean lengths by depth, what the place of the norms does to them, and those of the pinned run beside them."""
    dotted = f" Dotted lines, on the same axes: {escape_markdown(side.name)}." if side else ""
    means = {part: np.nanmean(values) for part, values in lengths.items()}
    panels.chart(
        "norms_by_layer",
        figures.norms_by_layer(lengths, pinned, side.name if side else ""),
        caption=r"The length of a vector is its L2 norm, $\lVert x \rVert_2 = \sqrt{\sum_i x_i^2}$. A line is the mean "
        "over tokens, a band holds their middle 80 %. Where a line leaves its band, a few tokens are far longer or "
        "shorter than the rest. The residual stream, the vectors that pass from block to block, has a mean length of "
        f"{means['residual']:.3g}; attention's outputs have {means['attention']:.3g}, the feed-forward's "
        f"{means['feed-forward']:.3g} (at most {np.nanmax(lengths['feed-forward']):.3g}). The frame marks what layer "
        f"{focus.layer} adds; click to choose another.{dotted}",
        alt="Mean L2 norm by depth of the residual stream and of the outputs of attention and feed-forward",
        overlay=frame_cell(
            "norms_by_layer",
            focus,
            columns=_layers_by_depth(run),
            label="The chosen layer. Arrow keys choose its neighbours.",
        ),
    )
    st.markdown(streams.describe_growth(run.config, lengths, streams.l2(run.arrays["final"][~run.padding])))
    if side is not None and pinned is not None:
        st.markdown(escape_markdown(describe_growth_change(pinned, lengths, (side.name, side.now))))
    panels.numbers("norms_by_layer", lambda: streams.summary(lengths, pinned))


def _layers_by_depth(run: Run) -> Cells:
    """Depths on an axis as layers: layer 0 leads to depth 1; depth 0, the embeddings, is no layer's."""
    return Cells("layer", {layer + 1: layer for layer in range(run.config.n_layers)})


def _draw_details(run: Run, focus: Focus, lengths: Lengths) -> None:
    """The view that the visitor chooses."""
    tokens = [token for token, padding in zip(run.tokens, run.padding, strict=True) if not padding]
    view = widgets.choice("norms_view", "Look closer", help_text=HELP["view"])
    if view == "tokens":
        _draw_tokens(run, focus, lengths, tokens)
    elif view == "statistics":
        _draw_statistics(run)
    elif view == "cosines":
        _draw_cosines(run, focus, tokens)
    else:
        _draw_one_norm(run, focus.query)


def _draw_tokens(run: Run, focus: Focus, lengths: Lengths, tokens: list[str]) -> None:
    part = widgets.choice("norms_part", "Length of", help_text=HELP["part"])
    values, first_depth = lengths[part], 0 if part == "residual" else 1
    depths = [f"depth {depth}" for depth in range(first_depth, first_depth + len(values))]
    panels.chart(
        "norms_by_token",
        figures.norms_by_token(values, tokens, first_depth=first_depth),
        caption="A column is a token. A row is a depth: the number of blocks that the token has passed. A stronger "
        f"colour means a longer vector. The shortest has length {np.nanmin(values):.3g}, the longest "
        f"{np.nanmax(values):.3g}. The frame marks the chosen token after the chosen layer; click a cell to choose.",
        alt=f"Heatmap of the L2 norm of each token's vector by depth: {figures.PARTS[part][0]}",
        overlay=frame_cell(
            "norms_by_token",
            focus,
            rows=_layers_by_depth(run),
            columns=Cells.of("query", range(len(tokens))),
            label="The chosen layer, in its row, and token, in its column. Arrow keys move them.",
        ),
        table=lambda: pd.DataFrame(values.T, token_names(tokens), depths),
    )


def _draw_statistics(run: Run) -> None:
    statistics = norms.norm_statistics(norms.norm_points(run))
    before, after = statistics["std before"], statistics["std after"]
    panels.chart(
        "norm_statistics",
        figures.norm_statistics(statistics),
        caption="What does a norm change? Mean and standard deviation (std) are taken over a token's "
        f"{run.config.d_model} features, then averaged over tokens. Inputs of the norms have a std of "
        f"{before.min():.3g} to {before.max():.3g}, outputs {after.min():.3g} to {after.max():.3g}."
        + (" With norm = none, every output equals its input." if run.config.norm == "none" else ""),
        alt="Standard deviation and mean of the features before and after every norm",
        table=lambda: statistics,
    )


def _draw_cosines(run: Run, focus: Focus, tokens: list[str]) -> None:
    stream = streams.residual_stream(run)
    depth = widgets.whole("norms_layer", "Depth: blocks passed (0 = embeddings)", high=run.config.n_layers)
    st.caption(
        "The cosine of two vectors compares their directions: 1 means the same, 0 a right angle, −1 the opposite."
    )
    left, right = st.columns(2)
    with left:
        between = streams.cosine_between_layers(stream)
        panels.chart(
            "cosines_between_layers",
            figures.cosines_between_layers(between),
            caption="Do the blocks turn a token's vector? Each cell compares two depths, averaged over tokens. "
            f"Embeddings and last block: {between[0, -1]:.2f}.",
            alt="Heatmap of cosines between depths",
            table=lambda: pd.DataFrame(between).rename_axis("blocks passed"),
        )
    with right:
        cosines = streams.cosine_between_tokens(stream[depth])
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


def _draw_one_norm(run: Run, token: int) -> None:
    if run.config.norm == "none":
        st.info("With norm = none there is nothing to compute: every output equals its input.")
        return
    points = norms.norm_points(run)
    number = widgets.whole("norms_norm", "Norm, in the order of the computation", high=len(points) - 1)
    point = points[number]
    x, out = point.before[token], point.after[token]
    hand = norms.normalise_by_hand(x, run.config)
    st.markdown(f"`{point.name}` of {quote_token(run.tokens[token])} at position {token}")
    st.latex(norms.formula(run.config))
    st.latex(norms.formula_with_numbers(x, hand, run.config))
    scaling = "gain" if run.config.norm == "rms" else "gain and bias"
    st.caption(
        f"Is the formula what PyTorch computes? Over {x.size} features, the two differ by at most {hand.off:.1e}. "
        f"After it, the norm applies its {scaling}: out₀ = {out[0]:.4g}."
    )
    table = {"x": x, "normalised by hand": hand.normalized, f"after {scaling}": out}
    panels.numbers("norm_by_hand", lambda: pd.DataFrame(table).rename_axis("feature"))
