"""The way of one sentence through the encoder: tokens, shapes, work, and a preview of three other pages."""

from playground.model import Encoder
from playground.model.blocks import EncoderBlock
from playground.web.shared import panels, pinning
from playground.web.views.front import draw_cards
from playground.web.views.overview import explore_sentence

panels.heading("What happens to a sentence in an encoder?")
draw_cards()
pinning.draw_pin_line()
panels.current_run()
pinning.explain_pinned_run()
explore_sentence()
panels.code_behind("overview", Encoder, EncoderBlock)
