"""Where the parameters sit: counted by formula, at any size; nothing is run, and no weights are allocated."""

from playground import accounting
from playground.views.parameters import parameters_scene, show_parameters
from playground.web.shared import panels
from playground.web.shared.page_end import fragment
from playground.web.shared.renderer import draw_view
from playground.web.views import parameters  # noqa: F401 - the choice of the model to count


@fragment
def explore_parameters() -> None:
    """The choice of the model to count, and what the page shows of it."""
    draw_view("parameters", show_parameters, parameters_scene, ())


panels.draw_heading("Where do the parameters sit?")
panels.draw_pin_line()
explore_parameters()
panels.code_behind(
    "parameters",
    accounting.count_parameters,
    accounting.count_flops,
    accounting.attention_overtakes,
    accounting.count_memory,
)
