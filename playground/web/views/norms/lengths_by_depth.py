"""The focus, and lengths by depth; what is looked at more closely, `norm_views` draws."""

import numpy as np
import streamlit as st

from playground.analysis import streams
from playground.analysis.comparison import describe_growth_change
from playground.figures import norms as figures
from playground.link.opening import Focus
from playground.runs.encoder_run import Run
from playground.web.shared import panels
from playground.web.shared.focus_line import frame_cell, show_focus
from playground.web.shared.markdown import escape_markdown
from playground.web.shared.page_end import fragment
from playground.web.shared.pinning import PinnedSide, pinned_side, run_pinned
from playground.web.views.norms import norm_views
from playground.web.views.norms.norm_views import Lengths


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
    norm_views.draw_chosen_view(run, focus, lengths)


def _draw_lengths(
    run: Run, focus: Focus, lengths: Lengths, side: PinnedSide | None = None, pinned: Lengths | None = None
) -> None:
    """Mean lengths by depth, what the place of the norms does to them, and those of the pinned run beside them."""
    dotted = f" Dotted lines, on the same axes: {escape_markdown(side.name)}." if side else ""
    stream = lengths["residual"]
    panels.chart(
        "norms_by_layer",
        figures.norms_by_layer(lengths, pinned, side.name if side else ""),
        caption=r"The length of a vector is its L2 norm, $\lVert x \rVert_2 = \sqrt{\sum_i x_i^2}$. A line is the mean "
        "over tokens, a band holds their middle 80 %. Where a line leaves its band, a few tokens are far longer or "
        "shorter than the rest. The residual stream, the vectors that pass from block to block, begins with embeddings "
        f"of mean length {np.nanmean(stream[0]):.3g}; after the blocks it is {np.nanmean(stream[1:]):.3g} on average. "
        f"Attention's outputs have {np.nanmean(lengths['attention']):.3g}, the feed-forward's "
        f"{np.nanmean(lengths['feed-forward']):.3g} (at most {np.nanmax(lengths['feed-forward']):.3g}). The frame "
        f"marks what layer {focus.layer} adds; click to choose another.{dotted}",
        alt="Mean L2 norm by depth of the residual stream and of the outputs of attention and feed-forward",
        overlay=frame_cell(
            "norms_by_layer",
            focus,
            columns=norm_views.layers_by_depth(run),
            label="The chosen layer. Arrow keys choose its neighbours.",
        ),
    )
    st.markdown(streams.describe_growth(run, lengths))
    if side is not None and pinned is not None:
        st.markdown(escape_markdown(describe_growth_change(pinned, lengths, (side.name, side.now))))
    panels.numbers("norms_by_layer", lambda: streams.summary(lengths, pinned))
