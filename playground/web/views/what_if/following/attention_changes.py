"""How far every head's attention has changed, and the chosen head before, after, and the difference."""

import numpy as np
import pandas as pd
import streamlit as st

from playground.analysis.comparison import moved_weight
from playground.figures import attention as figures
from playground.link.opening import Focus
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run
from playground.views.change_names import note_set_weights
from playground.web.shared import panels
from playground.web.shared.focus_line import Cells, frame_cell
from playground.web.shared.head_map import draw_head_map, has_grey_cells


def draw_attention_changes(run: Run, untouched: Run, focus: Focus) -> None:
    """The map of all heads, and three of the chosen head on one scale."""
    left, right = st.columns(2, gap="medium")
    with left:
        _draw_heads(run, untouched, focus)
    before, after = (each.pattern(focus.layer)[focus.head] for each in (untouched, run))
    name = f"layer {focus.layer}, head {focus.head}"
    with right:
        _draw_map(
            "whatif_difference",
            run,
            after - before,
            focus,
            f"**Changed − untouched, {name}.** Violet: more weight with your changes. Orange: less.",
            signed=True,
        )
    left, right = st.columns(2, gap="medium")
    with left:
        _draw_map("whatif_before", untouched, before, focus, f"**Untouched, {name}.**")
    with right:
        set_by_hand = note_set_weights(run, focus.layer, focus.head)
        _draw_map(
            "whatif_after", run, after, focus, f"**With your changes, {name}.** In the same colours.{set_by_hand}"
        )


def _draw_heads(run: Run, untouched: Run, focus: Focus) -> None:
    shares = moved_weight(untouched, run)
    panels.chart(
        "whatif_heads",
        figures.moved_weight_grid(shares, least_height=figures.map_height(int((~run.padding).sum()))),
        caption="**How much has each head changed?** A cell is half the sum of all changes in a query's weights, "
        "averaged over queries: 0 is the same attention, 1 looks at other keys altogether. The largest is "
        f"{np.nanmax(shares, initial=0):.2g}. A head that is off still attends: what it gathers is lost. Click a cell "
        "to choose its head.",
        alt="How much each head's attention has changed.",
        overlay=frame_cell(
            "whatif_heads",
            focus,
            rows=Cells.of("layer", range(run.config.n_layers)),
            columns=Cells.of("head", range(run.config.n_heads)),
            label="The chosen layer, in its row, and head, in its column. Arrow keys choose their neighbours.",
        ),
        table=lambda: pd.DataFrame(shares).rename_axis("layer").rename_axis("head", axis=1),
    )


def _draw_map(key: str, run: Run, pattern: Array, focus: Focus, caption: str, *, signed: bool = False) -> None:
    visible = ~run.padding
    grey = " Grey cells are masked." if has_grey_cells(run, visible) else ""
    draw_head_map(
        key,
        run,
        pattern,
        visible,
        focus,
        None if signed else figures.SQUARE_ROOT,
        caption=caption + grey,
        alt="Attention: queries in rows, keys in columns.",
        file=f"{key}_layer{focus.layer}_head{focus.head}",
    )
