"""URL ⇄ widgets ⇄ Setup."""
