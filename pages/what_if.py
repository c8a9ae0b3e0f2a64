"""What if: the computation changed, and what followed."""

from playground.analysis.part_importance import measure_parts, measure_patches, measure_positions, measure_pruning
from playground.model import interventions
from playground.web.shared import panels
from playground.web.views.what_if import change_views, how_to_read

panels.heading("What if a part worked otherwise?")
panels.current_run()
change_views.explore_changes()
how_to_read.draw_how_to_read()
sources = (measure_parts, measure_positions, measure_patches, measure_pruning)
panels.code_behind("what_if", interventions.ZeroHead, interventions.InterventionTrace, *sources)
