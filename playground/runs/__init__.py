"""One bounded pass each: (model, text) → arrays."""
