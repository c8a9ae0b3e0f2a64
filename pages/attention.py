"""Who attends to whom: every head at once, one head large, and what can be computed from it."""

from playground.analysis.attention import mean_entropy, measure_habits, rollout
from playground.analysis.attribution import split_score
from playground.analysis.head_search import search_heads
from playground.analysis.stream_sources import split_stream
from playground.model.attention import Attention, attend
from playground.web.shared import panels, pinning
from playground.web.views.attention import head_charts

panels.heading("Who attends to whom?")
pinning.draw_pin_line()
panels.current_run()
pinning.explain_pinned_run()
head_charts.explore_heads()
sources = (split_stream, split_score, search_heads, measure_habits)
panels.code_behind("attention", attend, Attention, mean_entropy, rollout, *sources)
