"""Where the parameters sit: counted by formula, at any size; nothing is run, and no weights are allocated."""

from playground import accounting
from playground.web.shared import panels, pinning
from playground.web.views.parameters import model_size, sentence_cost

panels.heading("Where do the parameters sit?")
pinning.draw_pin_line()
name, config = model_size.choose_model()
model_size.draw_totals(config)
model_size.draw_breakdown(config)
model_size.explain_heads(config)
sentence_cost.draw_cost(config)
sentence_cost.compare_models(config, name)
panels.code_behind(
    "parameters",
    accounting.count_parameters,
    accounting.count_flops,
    accounting.attention_overtakes,
    accounting.count_memory,
)
