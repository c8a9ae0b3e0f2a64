"""How long the vectors are on their way through the encoder, what the norms do to them, and where they point."""

from playground.analysis import streams
from playground.analysis.streams import normalise_by_hand
from playground.model.norms import LayerNorm
from playground.web.shared import panels, pinning
from playground.web.views.norms import explore_norms

panels.draw_heading("How long are the vectors, layer by layer?")
pinning.draw_pin_line()
panels.draw_run_line()
pinning.explain_pinned_run()
explore_norms()
panels.code_behind("norms", streams.lengths, normalise_by_hand, LayerNorm)
