"""One layer, one head, one token: every stage of the computation with its formula and its numbers."""

from playground.analysis import steps
from playground.analysis.walkthrough import Walk
from playground.model.attention import Attention, attend
from playground.model.blocks import EncoderBlock
from playground.web import cache, dropout_views, panels, state, step_controls, step_views, widgets
from playground.web.ended import fragment


@fragment
def explorer() -> None:
    """Everything that a choice on this page redraws."""
    run = panels.shown_run()
    layer, head, query, key = step_controls.pick_place(run)
    stage = step_controls.pick_stage(run)
    setup = state.current()
    what = (*setup.run_key, layer)
    with panels.plainly():
        walk = Walk(cache.trace_layer(*what), head, query, key)
    step_views.show(walk, stage)
    if widgets.switch("step_dropout", "Show where dropout strikes while training"):
        with panels.plainly():
            dropped = cache.drop_layer(*what)
        dropout_views.show(walk, dropped, setup["seed"])


panels.heading("How is one vector computed, number by number?")
panels.run_line(panels.current_run())
explorer()
panels.code_behind("step", Attention, attend, EncoderBlock, steps.work_out)
