"""Where the parameters sit: counted by formula, at any size; nothing is run, and no weights are allocated."""

from playground import accounting
from playground.web.shared import panels
from playground.web.shared.comparison import pin_line
from playground.web.views import parameters

panels.heading("Where do the parameters sit?")
pin_line.draw_pin_line()
name, config = parameters.choose_model()
parameters.draw_totals(config)
parameters.draw_breakdown(config)
parameters.explain_heads(config)
parameters.draw_cost(config)
parameters.compare_models(config, name)
panels.code_behind(
    "parameters",
    accounting.count_parameters,
    accounting.count_flops,
    accounting.attention_overtakes,
    accounting.count_memory,
)
