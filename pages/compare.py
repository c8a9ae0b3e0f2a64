"""Two full settings side by side, the pinned ones and the present: heads, where they part, lengths, costs."""

from playground.analysis import run_differences
from playground.analysis.shared_weights import shared_tensors
from playground.web.shared import panels
from playground.web.shared.comparison import pin_line
from playground.web.shared.comparison.pinned_side import pinned_side
from playground.web.views.compare import instructive_pin, two_settings

panels.heading("What does a change change?")
pin_line.draw_pin_line(links_to_compare=False)
panels.current_run()
pin_line.explain_pinned_run()
if pinned_side() is None:
    instructive_pin.offer_pin()
else:
    two_settings.compare_runs()
    two_settings.compare_costs()
    panels.code_behind("compare", run_differences, shared_tensors)
