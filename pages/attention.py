"""Who attends to whom: every head at once, one head large, and what can be computed from it."""

from playground.analysis.attention import mean_entropy, rollout
from playground.analysis.attribution.score_sources import split_score
from playground.analysis.attribution.stream_sources import split_stream
from playground.analysis.head_habits import measure_habits
from playground.analysis.head_search import search_heads
from playground.model.attention import Attention, attend
from playground.web.shared import panels
from playground.web.shared.comparison import pin_line
from playground.web.views.attention import head_charts

panels.heading("Who attends to whom?")
pin_line.draw_pin_line()
panels.current_run()
pin_line.explain_pinned_run()
head_charts.explore_heads()
sources = (split_stream, split_score, search_heads, measure_habits)
panels.code_behind("attention", attend, Attention, mean_entropy, rollout, *sources)
