"""How long the vectors are on their way through the encoder, what the norms do to them, and where they point."""

from playground.analysis import streams
from playground.analysis.streams import normalise_by_hand
from playground.model.norms import LayerNorm
from playground.views.norms import show_norms
from playground.web.shared import panels, pinning
from playground.web.shared.page_end import fragment
from playground.web.shared.renderer import read_options, render, run_scene


@fragment
def explore_norms() -> None:
    """The focus, and what the view shows of it."""
    scene = run_scene()
    render(show_norms(scene, read_options("norms")), scene)


panels.heading("How long are the vectors, layer by layer?")
pinning.draw_pin_line()
panels.current_run()
pinning.explain_pinned_run()
explore_norms()
panels.code_behind("norms", streams.lengths, normalise_by_hand, LayerNorm)
