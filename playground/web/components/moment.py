"""Says when a message was sent, so that a browser can tell a newer one from an older one."""

import secrets
import time

_PROCESS = secrets.token_hex(4)
"""This server's, as the clocks of two servers have nothing to do with each other."""


def moment() -> dict[str, str | float]:
    """The moment as JSON: `process`, and its `time` in seconds, which rises however the machine's clock is set."""
    return {"process": _PROCESS, "time": time.monotonic()}
