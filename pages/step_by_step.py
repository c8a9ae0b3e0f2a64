"""One layer, one head, one token: every stage of the computation with its formula and its numbers."""

from playground.analysis import steps
from playground.model.attention import Attention, attend
from playground.model.blocks import EncoderBlock
from playground.web.shared import panels
from playground.web.views.step_by_step import show_chosen_stage

panels.draw_heading("How is one vector computed, number by number?")
panels.draw_pin_line()
show_chosen_stage()
panels.code_behind("step", Attention, attend, EncoderBlock, steps.work_out)
