"""The page Gradient flow."""
