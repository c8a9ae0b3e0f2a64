"""How words are told apart by their place: the table that is added, and what is lost without it."""

from playground.analysis import positions
from playground.model import encoder as model_positions
from playground.model.encoder import Embeddings
from playground.web.shared import panels, pinning
from playground.web.views.positions import position_effects, position_table

panels.heading("How does the encoder know the order of the words?")
pinning.draw_pin_line()
run = panels.current_run(changed=False)
pinning.explain_pinned_run()
position_table.show_table(run)
position_effects.show_chosen_view()
panels.code_behind("positions", model_positions.sinusoids, Embeddings.place, positions.swap_words)
