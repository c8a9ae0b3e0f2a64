"""How words are told apart by their place: the table that is added, and what is lost without it."""

from playground.analysis import positions
from playground.model import positions as model_positions
from playground.model.embedding import Embeddings
from playground.web import panels, position_views

panels.heading("How does the encoder know the order of the words?")
run = panels.current_run()
panels.run_line(run)
position_views.table(run, position_views.current_rows())
position_views.look_closer()
panels.code_behind("positions", model_positions.sinusoids, Embeddings.place, positions.swap_words)
