"""What if: the computation changed, and what followed."""

from playground.web.views.what_if import draw_changes

draw_changes()
