"""How much text a visitor may send: anyone may, and attention costs the square of the length."""

MAX_CHARACTERS = 2_000
"""Characters of typed text, over all sentences."""

MAX_SENTENCES = 8
"""Sentences in one batch."""

MAX_TOKENS = 256
"""Tokens of one sentence, special tokens included."""
