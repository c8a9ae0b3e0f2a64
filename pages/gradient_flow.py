"""What norms and residual connections do to a gradient on its way back to the first layer."""

from playground.analysis import gradient_variants, gradients
from playground.model.blocks import EncoderBlock
from playground.web import gradient_views, panels

panels.heading("Does the gradient reach the first layer?")
gradient_views.introduce()
gradient_views.check_text()
gradient_views.explore()
panels.code_behind(
    "gradient_flow", gradients.next_token_loss, gradients.backward, gradient_variants.with_variant, EncoderBlock
)
