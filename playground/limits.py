"""How much a visitor may send: anyone may, and attention costs the square of the length of a text.

Whoever runs the app sets each by an environment variable, which is PLAYGROUND_ and the name below.
"""

import logging
import os

logger = logging.getLogger(__name__)


def read_limit(name: str, default: int) -> int:
    """The limit that the environment gives; `default` where it gives none, or no whole number above 0."""
    variable = f"PLAYGROUND_{name}"
    text = os.environ.get(variable, str(default))
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        logger.warning("%s is ignored, %d is used: %r is no whole number above 0", variable, default, text)
        return default
    return value


MAX_CHARACTERS = read_limit("MAX_CHARACTERS", 2_000)
"""Characters of typed text, over all sentences."""

MAX_SENTENCES = read_limit("MAX_SENTENCES", 8)
"""Sentences in one batch."""

MAX_LISTED = read_limit("MAX_LISTED", 40)
"""Sentences that are compared with each other: those of the text, and of a list beside it."""

MAX_LISTED_TOKENS = read_limit("MAX_LISTED_TOKENS", 128)
"""Tokens of each of these, special tokens included."""

MAX_TOKENS = read_limit("MAX_TOKENS", 256)
"""Tokens of one sentence, special tokens included."""

MAX_ADDRESS = min(read_limit("MAX_ADDRESS", 48_000), 60_000)
"""Characters of an address that the server takes, and of a link that the app writes: a longer one goes into a file.

Python's server takes no request above 64 kB, its headers included. nginx's buffers follow from this limit.
"""

LINK_FIELDS = 1_000
"""Parameters of a link; Streamlit drops all where there are more."""
