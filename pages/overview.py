"""The way of one sentence through the encoder: tokens, shapes, work, and a preview of three other pages."""

from playground.model import Encoder
from playground.model.blocks import EncoderBlock
from playground.web.shared import panels
from playground.web.views import overview

panels.heading("What happens to a sentence in an encoder?")
panels.current_run()
overview.explore()
panels.code_behind("overview", Encoder, EncoderBlock)
