"""A click that opens a head."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from playground.link.opening import Focus
from playground.web.choices.focus import move_focus
from playground.web.choices.setup import current_value
from playground.web.views.attention import why_panel


def open_head(layer: int, head: int) -> None:
    """Show one head on the page Attention; for callbacks, before the widgets are drawn."""
    move_focus(layer=layer, head=head)
    if st.session_state.get("attention_show") == "average of heads":
        st.session_state["attention_show"] = "one head"


def draw_head_table(key: str, table: pd.DataFrame, columns: dict[str, Any], focus: Focus) -> None:
    """A table with a row a head, in columns `layer` and `head`; a click on a row opens its head, far above the table.

    A button below it says which head is open and scrolls there. `columns` says how others are drawn, as `st.dataframe`
    takes it.
    """
    heads = list(zip(map(int, table["layer"]), map(int, table["head"]), strict=True))
    with st.container(key=key):
        st.dataframe(
            table,
            key=f"{key}_table",
            hide_index=True,
            column_config=columns,
            on_select=partial(_open_selected, f"{key}_table", heads),
            selection_mode="single-row",
        )
        if current_value("attention_show") == "one head":
            st.button(
                f"Layer {focus.layer}, head {focus.head} is open above",
                key=f"{key}_up",
                icon=":material/arrow_upward:",
                type="tertiary",
                on_click=why_panel.show_on_arrival,
                help="Scrolls to the answer on this head.",
            )


def _open_selected(key: str, heads: Sequence[tuple[int, int]]) -> None:
    rows = st.session_state[key]["selection"]["rows"]
    if rows and 0 <= rows[0] < len(heads):
        open_head(*heads[rows[0]])
