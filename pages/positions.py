"""Positions: how words are told apart by their place."""

from playground.analysis import positions as analysis
from playground.model import positions as model_positions
from playground.model.encoder import Embeddings
from playground.views.positions import positions_scene, show_positions
from playground.web.shared.renderer import draw_page

question = "How does the encoder know the order of the words?"
sources = (model_positions.sinusoids, Embeddings.place, model_positions.rotate, analysis.swap_words)
draw_page("positions", question, show_positions, positions_scene, *sources, shown=(), changed=False)
