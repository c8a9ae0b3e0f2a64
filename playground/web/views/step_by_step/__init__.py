"""The page Steps."""
