"""The focus, the changes, and the view of them that the visitor chooses."""

import streamlit as st

from playground.web.choices import widgets
from playground.web.shared import panels
from playground.web.shared.focus_line import show_focus
from playground.web.shared.page_end import fragment
from playground.web.views.what_if.followed_view import draw_followed
from playground.web.views.what_if.making.make_change import draw_change_maker


@fragment
def explore_changes() -> None:
    """The focus, and the chosen view of the page."""
    run = panels.shown_run()
    focus = show_focus(run)
    draw_change_maker(run, focus)
    view = widgets.choice("whatif_view", "Look at")
    if view == "what followed":
        draw_followed(run, focus)
    else:
        st.caption("Choose a view.")
