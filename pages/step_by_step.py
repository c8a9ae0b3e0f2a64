"""One layer, one head, one token: every stage of the computation with its formula and its numbers."""

from playground.analysis import steps
from playground.analysis.walkthrough import Walk
from playground.model.attention import Attention, attend
from playground.model.blocks import EncoderBlock
from playground.web.choices import widgets
from playground.web.choices.setup import current_setup
from playground.web.session import caches
from playground.web.shared import panels
from playground.web.shared.page_end import fragment
from playground.web.views.step_by_step import dropout_view, pickers, stages


@fragment
def explorer() -> None:
    """Everything that a choice on this page redraws."""
    run = panels.shown_run()
    layer, head, query, key = pickers.pick_place(run)
    stage = pickers.pick_stage(run)
    setup = current_setup()
    what = (*setup.run_key, layer)
    with panels.explain_errors():
        walk = Walk(caches.trace_layer(*what), head, query, key)
    stages.show(walk, stage)
    if widgets.switch("step_dropout", "Show where dropout strikes while training"):
        with panels.explain_errors():
            dropped = caches.drop_layer(*what)
        dropout_view.show(walk, dropped, setup["seed"])


panels.heading("How is one vector computed, number by number?")
panels.run_line(panels.current_run())
explorer()
panels.code_behind("step", Attention, attend, EncoderBlock, steps.work_out)
