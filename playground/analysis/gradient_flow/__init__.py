"""A gradient's way back through an encoder, and through six that differ in norms and residual connections."""
