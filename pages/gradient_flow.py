"""What norms and residual connections do to a gradient on its way back to the first layer."""

from playground.analysis import gradients
from playground.model.blocks import EncoderBlock
from playground.web.shared import panels
from playground.web.views import gradient_flow

panels.draw_heading("Does the gradient reach the first layer?")
gradient_flow.check_text()
gradient_flow.explore_gradient_flow()
gradient_flow.train_both()
panels.code_behind("gradient_flow", gradients.next_token_loss, gradients.backward, gradients.with_variant, EncoderBlock)
