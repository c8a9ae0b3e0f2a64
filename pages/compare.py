"""Two full settings side by side, the pinned ones and the present: where they part, one head, lengths, costs."""

from playground.analysis import comparison
from playground.web.choices.setup import pinned_setup
from playground.web.shared import panels
from playground.web.views import compare

panels.draw_heading("What difference does a change make?")
if pinned_setup() is None:
    compare.offer_pairs()
panels.draw_run_line()
panels.draw_pin_line()
if pinned_setup() is not None:
    compare.compare_runs()
    panels.code_behind("compare", comparison)
