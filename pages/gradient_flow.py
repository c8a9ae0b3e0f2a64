"""What norms and residual connections do to a gradient on its way back to the first layer."""

from playground.analysis import gradient_variants, gradients
from playground.model.blocks import EncoderBlock
from playground.web.shared import panels
from playground.web.views.gradient_flow import variants_view

panels.heading("Does the gradient reach the first layer?")
variants_view.introduce()
variants_view.check_text()
variants_view.explore()
panels.code_behind(
    "gradient_flow", gradients.next_token_loss, gradients.backward, gradient_variants.with_variant, EncoderBlock
)
