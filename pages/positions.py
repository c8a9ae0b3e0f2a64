"""How words are told apart by their place: the table that is added, and what is lost without it."""

from playground.analysis import positions as analysis
from playground.model import positions as model_positions
from playground.model.encoder import Embeddings
from playground.views.positions import positions_scene, show_positions
from playground.web.shared import panels, pinning
from playground.web.shared.page_end import fragment
from playground.web.shared.renderer import draw_view

panels.draw_heading("How does the encoder know the order of the words?")
pinning.draw_pin_line()
panels.draw_run_line(changed=False)
pinning.explain_pinned_run()
fragment(draw_view)("positions", show_positions, positions_scene, ())
panels.code_behind(
    "positions", model_positions.sinusoids, Embeddings.place, model_positions.rotate, analysis.swap_words
)
