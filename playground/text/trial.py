"""A process of its own that reads a stranger's file from standard input within limits, and fails beyond them.

It imports nothing of the package, to start at once. Tasks: `json N`, JSON of at most N values; `tokenizer`, one that is
built and encodes a text. macOS does not enforce the limit of memory; Windows has only the parent's `SECONDS`.
"""

import contextlib
import json
import sys

SECONDS = 20
"""Of waiting, and of processor time."""

_BYTES = 3 * 2**30
_TEXT = "The animal didn't cross the street, because it was too tired. Ça va? ﷺ 猫 🙂\n" * 25  # 2,000 characters


def limit() -> None:
    """Limit this process's memory and processor time, where the system can and does not limit them further."""
    try:
        import resource
    except ImportError:  # not Unix
        return
    for kind, most in ((resource.RLIMIT_AS, _BYTES), (resource.RLIMIT_CPU, SECONDS), (resource.RLIMIT_CORE, 0)):
        hard = resource.getrlimit(kind)[1]
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        with contextlib.suppress(ValueError):  # macOS, for memory
            resource.setrlimit(kind, (least, least))


def count_values(data: bytes, most: int) -> None:
    """Raise ValueError if JSON holds more values than this, keys included."""
    rest, n = [json.loads(data)], 1
    while rest:
        found = rest.pop()
        if isinstance(found, dict | list):
            n += len(found) * (2 if isinstance(found, dict) else 1)
            rest += found.values() if isinstance(found, dict) else found
        if n > most:
            raise ValueError(f"it holds more than {most:,} values")


if __name__ == "__main__":
    limit()
    task, data = sys.argv[1], sys.stdin.buffer.read()
    if task == "json":
        count_values(data, int(sys.argv[2]))
    else:
        import tokenizers

        tokenizers.Tokenizer.from_str(data.decode()).encode(_TEXT)
