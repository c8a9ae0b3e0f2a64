"""Mistakes that code makes and nothing stops, as edits of the model's pass."""
