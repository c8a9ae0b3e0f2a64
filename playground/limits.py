"""How much a visitor may send. Each limit is set by an environment variable: PLAYGROUND_ and its name."""

import logging
import os

logger = logging.getLogger(__name__)


def read_limit(name: str, default: int) -> int:
    """Return the environment's limit, `default` without a whole number above 0."""
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

MAX_SENTENCES = read_limit("MAX_SENTENCES", 8)

MAX_LISTED = read_limit("MAX_LISTED", 40)
"""Sentences that are compared with each other."""

MAX_TOKENS = read_limit("MAX_TOKENS", 256)
"""Of one sentence, special tokens included."""

MAX_ADDRESS = min(read_limit("MAX_ADDRESS", 48_000), 60_000)
"""Characters of an address: Python's server takes 64 kB, headers included; nginx's buffers follow."""

LINK_FIELDS = 1_000
"""Streamlit drops all parameters above it."""
