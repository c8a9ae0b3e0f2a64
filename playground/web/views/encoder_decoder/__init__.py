"""The page Decoder."""
