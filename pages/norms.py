"""How long the vectors are on their way through the encoder, what the norms do to them, and where they point."""

from playground.analysis import streams
from playground.analysis.streams import normalise_by_hand
from playground.model.norms import LayerNorm
from playground.views.norms import norm_places, show_norms
from playground.views.scenes import run_scene
from playground.web.shared import panels
from playground.web.shared.page_end import fragment
from playground.web.shared.renderer import draw_view, read_options
from playground.web.views import norms  # noqa: F401 - what its choices do


@fragment
def explore_norms() -> None:
    """The focus, and what the view shows of it."""
    draw_view("norms", show_norms, run_scene, norm_places(read_options("norms")))


panels.draw_heading("How long are the vectors, layer by layer?")
panels.draw_pin_line()
panels.draw_run_line()
explore_norms()
panels.code_behind("norms", streams.lengths, normalise_by_hand, LayerNorm)
