"""How long the vectors are on their way through the encoder, what the norms do to them, and where they point."""

from playground.analysis import streams
from playground.analysis.norms import normalise_by_hand
from playground.model.norms import LayerNorm
from playground.web.shared import panels
from playground.web.views import norms

panels.heading("How large do the vectors grow?")
panels.current_run()
norms.explore_lengths()
panels.code_behind("norms", streams.lengths, normalise_by_hand, LayerNorm)
