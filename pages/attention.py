"""Who attends to whom: every head at once, one head large, and what can be computed from it."""

from playground.analysis.attention import mean_entropy, measure_habits, search_heads
from playground.analysis.attribution import judge_swap, split_score, swap_words
from playground.analysis.streams import split_stream
from playground.model.attention import Attention, attend
from playground.views.attention import attention_scene, show_attention
from playground.web.shared.renderer import draw_page

heads = (mean_entropy, split_stream, split_score, search_heads, measure_habits)
sources = (attend, Attention, *heads, swap_words, judge_swap)
draw_page("attention", "Who attends to whom?", show_attention, attention_scene, *sources)
