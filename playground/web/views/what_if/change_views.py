"""The focus, the changes, and the view of them that the visitor chooses."""

from playground.web.choices import widgets
from playground.web.shared import panels
from playground.web.shared.focus_line import show_focus
from playground.web.shared.page_end import fragment


@fragment
def explore_changes() -> None:
    """The focus, and the chosen view of the page."""
    run = panels.shown_run()
    show_focus(run)
    widgets.choice("whatif_view", "Look at")
