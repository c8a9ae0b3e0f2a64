"""Sections of code and prose about what a page shows, joined into a Python file or a notebook."""
