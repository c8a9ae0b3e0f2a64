"""What norms and residual connections do to a gradient on its way back to the first layer."""

from playground.analysis import gradient_variants, gradients
from playground.model.blocks import EncoderBlock
from playground.web.shared import panels
from playground.web.views.gradient_flow import gradient_panel

panels.heading("Does the gradient reach the first layer?")
gradient_panel.show_introduction()
gradient_panel.check_text()
gradient_panel.show_comparison()
panels.code_behind(
    "gradient_flow", gradients.next_token_loss, gradients.backward, gradient_variants.with_variant, EncoderBlock
)
