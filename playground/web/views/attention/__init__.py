"""The page Attention."""
