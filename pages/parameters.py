"""Where the parameters sit: counted by formula, at any size; nothing is run, and no weights are allocated."""

from playground import accounting
from playground.web.shared import panels, pinning
from playground.web.views import parameters

panels.draw_heading("Where do the parameters sit?")
pinning.draw_pin_line()
parameters.explore_parameters()
panels.code_behind(
    "parameters",
    accounting.count_parameters,
    accounting.count_flops,
    accounting.attention_overtakes,
    accounting.count_memory,
)
