"""The page Training."""
