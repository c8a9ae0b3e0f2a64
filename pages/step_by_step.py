"""One layer, one head, one token: every stage of the computation with its formula and its numbers."""

from functools import partial

from playground.analysis import steps
from playground.model.attention import Attention, attend
from playground.model.blocks import EncoderBlock
from playground.views.steps import list_path, show_steps, walk_scene
from playground.web.choices import widgets
from playground.web.choices.setup import current_setup
from playground.web.choices.shortcuts import choose_places
from playground.web.shared import panels
from playground.web.shared.page_end import fragment
from playground.web.shared.renderer import Live, draw_view, read_options


def open_first_stage() -> None:
    """Begin the path that was chosen; for callbacks."""
    choose_places(step_stage=list_path(current_setup().config, read_options("step"))[0])


@fragment
def show_chosen_stage() -> None:
    """The focus, the stage, and all that they redraw."""
    live = Live(widgets={"stage": partial(widgets.stage, "step_stage")}, on_change={"step_path": open_first_stage})
    draw_view("step-by-step", show_steps, walk_scene, live=live)


panels.draw_heading("How is one vector computed, number by number?")
panels.draw_pin_line()
panels.draw_run_line()
show_chosen_stage()
panels.code_behind("step", Attention, attend, EncoderBlock, steps.work_out)
