"""A stranger's JSON: a large one is read first in a process of its own, whose memory and time are limited.

That process runs this file, which imports nothing of the package at its top. Its tasks: `json N`, JSON of at most N
values; `tokenizer`, one that is built and encodes a text. macOS and Windows do not limit memory.
"""

import contextlib
import json
import subprocess
import sys
from typing import Any

SMALL = 65_536
"""Bytes that need no process."""

MAX_VALUES = 200_000
"""BERT large's header has 4,000."""

SECONDS = 20
"""Of waiting, and of processor time."""

_BYTES = 3 * 2**30
_TEXT = "The animal didn't cross the street, because it was too tired. Ça va? ﷺ 猫 🙂\n" * 25  # 2,000 characters


def read_json(content: bytes | str, most_values: int = MAX_VALUES) -> Any:
    """Return what JSON says; this process never builds more than `most_values` values of a large file.

    Raises:
        ValueError: it is no JSON, too deep, or (InputError) too large or slow.
    """
    data = content.encode(errors="surrogatepass") if isinstance(content, str) else content
    if len(data) > SMALL:
        try_apart("json", str(most_values), data=data)
    try:
        return json.loads(content)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def try_apart(*task: str, data: bytes) -> None:
    """Do a task in another process; raise InputError with what went wrong there."""
    from playground.errors import InputError

    try:
        subprocess.run(  # noqa: S603 - our own file
            [sys.executable, "-I", __file__, *task], input=data, capture_output=True, check=True, timeout=SECONDS
        )
    except subprocess.CalledProcessError as error:
        reason = error.stderr.decode(errors="replace").strip().rpartition("\n")[2].partition(": ")[2]
        raise InputError(reason[:200] or "it needs too much memory or time") from error
    except subprocess.TimeoutExpired as error:
        raise InputError(f"it takes more than {SECONDS} seconds") from error
    except OSError as error:
        raise InputError(f"no process can be started to read it: {error.strerror}") from error


def limit() -> None:
    """Limit this process's memory and processor time, where the system can."""
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
    """Raise ValueError if JSON holds more values, keys included."""
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
