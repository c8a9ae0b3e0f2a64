"""Norms: how long vectors get."""

from playground.analysis import streams
from playground.analysis.streams import normalise_by_hand
from playground.model.norms import LayerNorm
from playground.views.norms import show_norms
from playground.views.scenes import run_scene
from playground.web.shared.renderer import draw_page

question, sources = "How long are the vectors, layer by layer?", (streams.lengths, normalise_by_hand, LayerNorm)
draw_page("norms", question, show_norms, run_scene, *sources, shown=("layer", "query"))
