"""Parameters: counted, never run."""

from playground import accounting
from playground.views.parameters import parameters_scene, show_parameters
from playground.web.shared import panels
from playground.web.shared.page_end import fragment
from playground.web.shared.renderer import draw_view

panels.draw_heading("Where do the parameters sit?")
panels.draw_pin_line()
fragment(draw_view)("parameters", show_parameters, parameters_scene, ())
panels.code_behind(
    "parameters",
    accounting.count_parameters,
    accounting.count_flops,
    accounting.attention_overtakes,
    accounting.count_memory,
)
