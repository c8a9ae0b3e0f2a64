"""What if: the computation changed, and what followed."""

from playground.analysis.comparison import measure_variants, score_change, score_nearness, score_similarity
from playground.model.changes import Kind
from playground.model.interventions import InterventionTrace
from playground.web.shared import panels
from playground.web.views.what_if import explore_changes

panels.draw_heading("What if a part worked otherwise?")
panels.draw_run_line()
explore_changes()
panels.code_behind("what_if", Kind, InterventionTrace, measure_variants, score_change, score_nearness, score_similarity)
