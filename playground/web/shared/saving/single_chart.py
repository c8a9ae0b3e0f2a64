"""One chart of a page, in a frame of another page: `?embed=true&only=attention_pattern`.

The other charts are not sent, and the rest of the page is not seen. What stays beside the chart is the focus line,
which moves it, the changes that it shows, and what the page has to say of a link that it could not follow.
"""

import re

import streamlit as st

from playground.web.components.page_style import show_only
from playground.web.shared.page_end import as_one_element
from playground.web.shared.saving.current_link import current_link

MAIN_CHARTS = {
    "attention": "attention_pattern",
    "norms": "norms_by_layer",
    "parameters": "parameter_breakdown",
    "similarity": "similarity_matrix",
}
"""A page's path, which stands for its main chart in `only`."""

_NOTE = "single_chart"
"""Key of what the frame says beside the chart."""

_DRAWN = "_charts_of_page"
"""Session key of the charts that the last rerun of the page has."""


def asked_chart() -> str | None:
    """The key of the chart that the address asks for; None where the whole page is shown."""
    asked = st.query_params.get("only")
    if asked is None or not st.context.is_embedded:
        return None
    return MAIN_CHARTS.get(asked, asked)


@as_one_element
def begin_page() -> None:
    """Hide what is not the asked chart; before the page draws anything."""
    st.session_state[_DRAWN] = []
    asked = asked_chart()
    if asked is not None:
        shown = [asked, "focus_line", "change_chips_line", _NOTE]
        show_only([key for key in shown if re.fullmatch(r"[a-z0-9_]+", key)])


def is_left_out(key: str) -> bool:
    """Whether the chart of this key stays unsent; notes that the page has it."""
    drawn = st.session_state.setdefault(_DRAWN, [])
    if key not in drawn:
        drawn.append(key)
    asked = asked_chart()
    return asked is not None and asked != key


def draw_way_out(key: str) -> None:
    """Below the asked chart, a way to the whole page as it is now; elsewhere nothing."""
    if asked_chart() == key:
        _draw_link()


def end_page() -> None:
    """Say which charts there are, where the address asks for another one; after the page has drawn all."""
    asked = asked_chart()
    if asked is None or asked in st.session_state[_DRAWN]:
        return
    known = ", ".join(f"`{key}`" for key in st.session_state[_DRAWN])
    with st.container(key=_NOTE):
        st.info(
            f"The chart that this frame asks for is not on the page now. There are {known}."
            if known
            else "No chart is on this page now that could stand in a frame alone."
        )
        _draw_link()


def _draw_link() -> None:
    st.caption(f"[Open in the playground]({current_link()})")
