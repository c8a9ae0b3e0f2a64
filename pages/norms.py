"""How long the vectors are on their way through the encoder, and what the norms do to them."""

from playground.analysis import streams
from playground.analysis.streams import normalise_by_hand
from playground.model.norms import LayerNorm
from playground.views.norms import show_norms
from playground.views.scenes import run_scene
from playground.web.shared import panels, pinning
from playground.web.shared.page_end import fragment
from playground.web.shared.renderer import draw_view

panels.draw_heading("How long are the vectors, layer by layer?")
pinning.draw_pin_line()
panels.draw_run_line()
pinning.explain_pinned_run()
fragment(draw_view)("norms", show_norms, run_scene, ("layer", "query"))
panels.code_behind("norms", streams.lengths, normalise_by_hand, LayerNorm)
