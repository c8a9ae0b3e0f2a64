"""The focus, the changes, and the view of them that the visitor chooses."""

import streamlit as st

from playground.web.choices import widgets
from playground.web.choices.setup import current_setup
from playground.web.shared import panels
from playground.web.shared.focus_line import show_focus
from playground.web.shared.page_end import fragment
from playground.web.views.what_if.followed_view import draw_followed
from playground.web.views.what_if.make_change import draw_change_maker
from playground.web.views.what_if.parts_view import draw_parts
from playground.web.views.what_if.patch_view import draw_patches
from playground.web.views.what_if.prune_view import draw_pruning


@fragment
def explore_changes() -> None:
    """The focus, and the chosen view of the page."""
    run = panels.shown_run()
    focus = show_focus(run)
    view = widgets.choice("whatif_view", "Look at")
    if view == "what followed":
        draw_change_maker(run, focus)
        draw_followed(run, focus)
        return
    if current_setup().fitted_changes.applied:
        st.caption("This view looks at the model without your changes.")
    {"which parts matter": draw_parts, "where the difference sits": draw_patches, "take heads out": draw_pruning}[
        view
    ]()
