"""Mistakes that code of an encoder makes and that nothing stops: each an edit of the model's own pass."""
