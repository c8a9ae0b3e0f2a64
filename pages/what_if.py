"""What if: the computation changed, and what followed."""

from playground.model import interventions
from playground.web.shared import panels
from playground.web.views.what_if import change_views

panels.heading("What if a part worked otherwise?")
panels.current_run()
change_views.explore_changes()
panels.code_behind("what_if", interventions.ZeroHead, interventions.InterventionTrace)
