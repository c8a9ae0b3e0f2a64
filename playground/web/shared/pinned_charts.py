"""One head's map in two runs: the pinned one, the present one, and the change between them, side by side."""

from dataclasses import replace

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from playground.analysis.comparison import describe_head_change, have_same_tokens, moved_weight
from playground.charts.markdown import escape_markdown
from playground.figures import attention as figures
from playground.link.opening import Focus
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.web.choices.setup import current_setup
from playground.web.session import caches
from playground.web.session.caches import TwoRuns
from playground.web.session.weights_cache import cache_by_weights
from playground.web.shared import panels
from playground.web.shared.focus_line import Cells, frame_cell
from playground.web.shared.head_map import Mask, draw_head_map, has_grey_cells
from playground.web.shared.pinning import PinnedSide


def draw_both_heads(run: Run, pinned: Run, side: PinnedSide, focus: Focus) -> None:
    """The head at the focus in both runs, side by side, and what changed in it."""
    layer, head = nearest_head(pinned, focus)
    before, after = pinned.pattern(layer)[head], run.pattern(focus.layer)[focus.head]
    st.markdown(escape_markdown(describe_head_change((pinned, before), (run, after))))
    scale, visible, has_same = figures.SQUARE_ROOT, np.full(len(run.tokens), True), have_same_tokens(run, pinned)
    left, right = st.columns(2, gap="medium")
    with left:
        _draw_pinned(pinned, side, focus, before, np.full(len(pinned.tokens), True), scale, has_same=has_same)
    with right:
        name = f"**{escape_markdown(side.now)}.** Layer {focus.layer}, head {focus.head}."
        _draw_map("head_now", (focus.layer, focus.head), run, after, visible, focus, name, scale)
    if not has_same:
        return
    left, right = st.columns(2, gap="medium")
    with left:
        _draw_difference(run, pinned, after - before, visible, focus)
    with right:
        _draw_moved_weight(side, focus)


def nearest_head(run: Run, focus: Focus) -> tuple[int, int]:
    """The layer and head of a run at the focus of another, or the nearest that it has."""
    return min(focus.layer, run.config.n_layers - 1), min(focus.head, run.config.n_heads - 1)


def _draw_pinned(
    pinned: Run, side: PinnedSide, focus: Focus, pattern: Array, visible: Mask, scale: figures.WeightScale, *,
    has_same: bool, average: bool = False,
) -> None:  # fmt: skip
    layer, head = nearest_head(pinned, focus)
    name = f"**{escape_markdown(side.name)}.** Layer {layer}, {'average of heads' if average else f'head {head}'}."
    places = {"layer": (focus.layer, layer), "head": (focus.head, head)}
    missing = [f"{place} {asked}" for place, (asked, shown) in places.items() if shown != asked]
    if missing:
        name += f" The nearest: it has no {' and no '.join(missing)}."
    if not has_same:
        name += " There is no map of the difference, as the two read different tokens."
    _draw_map("head_pinned", (layer, head), pinned, pattern, visible, focus if has_same else None, name, scale)


def _draw_difference(run: Run, pinned: Run, difference: Array, visible: Mask, focus: Focus) -> None:
    caption = "**Now − pinned.** Violet: more weight now. Orange: more weight in the pinned run."
    either = replace(run, allowed=run.allowed | pinned.allowed)
    _draw_map("head_difference", (focus.layer, focus.head), either, difference, visible, focus, caption, None)


def _draw_moved_weight(side: PinnedSide, focus: Focus) -> None:
    """How much every head that both have has changed."""
    before, now = side.setup.run_key, current_setup().run_key
    shares, figure = _measure_moved_weight(TwoRuns(before, now))
    n_layers, n_heads = shares.shape
    panels.chart(
        "moved_weight",
        figure,
        caption="**How much has each head changed?** A cell is the share of a query's weight that has moved to other "
        "keys, averaged over queries: 0 is the same attention, 1 looks at other keys altogether. The strongest colour "
        f"is the largest of these heads, {np.nanmax(shares, initial=0):.2g}. Click a cell to open its head.",
        alt="Share of its weight that each head has moved to other keys.",
        overlay=frame_cell(
            "moved_weight",
            focus,
            rows=Cells.of("layer", range(n_layers)),
            columns=Cells.of("head", range(n_heads)),
            label="The open layer, in its row, and head, in its column. Arrow keys open their neighbours.",
        ),
        table=lambda: pd.DataFrame(shares).rename_axis("layer").rename_axis("head", axis=1),
    )


@cache_by_weights
def _measure_moved_weight(keys: TwoRuns) -> tuple[Array, go.Figure]:
    """`moved_weight` and its picture; raises as `caches.run_sentence`."""
    shares = moved_weight(*map(caches.run_sentence, keys))
    return shares, figures.moved_weight_grid(shares)


def _draw_map(
    key: str, place: tuple[int, int], run: Run, pattern: Array, visible: Mask, focus: Focus | None, caption: str,
    scale: figures.WeightScale | None,
) -> None:  # fmt: skip
    """One map of the layer and head at a place, with the focus framed in it; without a scale, one of differences."""
    grey = " Grey cells are masked." if has_grey_cells(run, visible) else ""
    alt, file = "Attention: queries in rows, keys in columns.", f"{key}_layer{place[0]}_head{place[1]}"
    draw_head_map(key, run, pattern, visible, focus, scale, caption=caption + grey, alt=alt, file=file)
