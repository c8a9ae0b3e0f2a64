"""The page Encoder–decoder."""
