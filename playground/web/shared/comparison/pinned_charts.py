"""A pinned chart and the change from it to the present one, side by side below the present one."""

from collections.abc import Callable
from functools import partial

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from playground.runs.arrays import Array
from playground.web.shared import panels


def draw_both(
    key: str,
    name: str,
    before: tuple[go.Figure, Array],
    change: tuple[go.Figure, Array],
    *,
    more: str,
    table: Callable[[Array], pd.DataFrame],
    reading: str = "",
    about: str = "",
) -> None:
    """Show two heatmaps in containers `<key>_pinned` and `<key>_difference`.

    Args:
        key: the present chart's.
        name: what the pinned settings are called, in markdown.
        before: their heatmap, which has the present one's colours, and its numbers.
        change: the same of now − pinned.
        more: what a change above 0 means.
        table: makes a table of numbers such as these.
        reading: what else the pinned chart's caption says, after a space.
        about: what else that of the change says, after a space.
    """
    captions = (
        f"**{name}.** In the same colours.{reading}",
        f"**Now − pinned.** Violet: {more} now. Orange: {more} in the pinned settings.{about}",
    )
    sides = (("pinned", *before, "The same heatmap of the pinned settings."), ("difference", *change, "Its change."))
    for column, caption, (side, figure, numbers, alt) in zip(st.columns(2, gap="medium"), captions, sides, strict=True):
        with column:
            panels.chart(f"{key}_{side}", figure, caption=caption, alt=alt, table=partial(table, numbers))
