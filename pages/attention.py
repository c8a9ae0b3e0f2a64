"""Who attends to whom: every head at once, one head large, and what can be computed from it."""

from playground.analysis.attention import mean_entropy, measure_habits, rollout, search_heads
from playground.analysis.attribution import change_text, judge_swap, split_score
from playground.analysis.streams import split_stream
from playground.model.attention import Attention, attend
from playground.views.attention import attention_scene, show_attention
from playground.web.shared import panels
from playground.web.shared.page_end import fragment
from playground.web.shared.renderer import draw_view


@fragment
def explore_heads() -> None:
    """The focus, and every chart that depends on it."""
    draw_view("attention", show_attention, attention_scene)


panels.draw_heading("Who attends to whom?")
panels.draw_pin_line()
panels.draw_run_line()
explore_heads()
sources = (split_stream, split_score, search_heads, measure_habits, change_text, judge_swap)
panels.code_behind("attention", attend, Attention, mean_entropy, rollout, *sources)
