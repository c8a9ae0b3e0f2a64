"""The page Norms: lengths by depth, and closer views."""
