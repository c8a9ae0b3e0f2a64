"""How long the vectors are on their way through the encoder, what the norms do to them, and where they point."""

from playground.analysis import streams
from playground.analysis.norms import normalise_by_hand
from playground.model.norms import LayerNorm
from playground.web.shared import panels
from playground.web.shared.comparison import pin_line
from playground.web.views.norms import lengths_by_depth

panels.heading("How large do the vectors grow?")
pin_line.draw_pin_line()
panels.current_run()
pin_line.explain_pinned_run()
lengths_by_depth.explore_lengths()
panels.code_behind("norms", streams.lengths, normalise_by_hand, LayerNorm)
