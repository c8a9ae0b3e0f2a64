"""The sidebar, the same on every page."""
