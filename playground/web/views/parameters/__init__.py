"""The page Parameters."""
