"""Who attends to whom: every head at once, one head large, and what can be computed from it."""

from playground.analysis.attention import mean_entropy, rollout
from playground.model.attention import Attention, attend
from playground.web.shared import panels
from playground.web.shared.comparison import pin_line
from playground.web.views.attention import head_charts

panels.heading("Who attends to whom?")
pin_line.draw_pin_line()
panels.current_run()
pin_line.explain_pinned_run()
head_charts.explore_heads()
panels.code_behind("attention", attend, Attention, mean_entropy, rollout)
