"""URL ⇄ widgets ⇄ Lab."""
