"""A stranger's JSON: a large one is read first in a process of its own, whose memory and time are limited."""

import json
import subprocess
import sys
from typing import Any

from playground.errors import InputError
from playground.text import trial

SMALL = 65_536
"""Bytes that cannot take more than some megabytes: no process is needed."""

MAX_VALUES = 200_000
"""Values of a file that describes a model or its tensors: BERT large's header has 4,000."""


def read_json(content: bytes | str, most_values: int = MAX_VALUES) -> Any:
    """Return what JSON says; this process never builds more than `most_values` values of a large file.

    Raises:
        ValueError: it is no JSON, is nested too deeply, or holds more values or needs more time or memory (InputError).
    """
    data = content.encode(errors="surrogatepass") if isinstance(content, str) else content
    if len(data) > SMALL:
        try_apart("json", str(most_values), data=data)
    try:
        return json.loads(content)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def try_apart(*task: str, data: bytes) -> None:
    """Do a task of `trial` in another process, within its limits; raise InputError with what went wrong there."""
    try:
        subprocess.run(  # noqa: S603 - our own file
            [sys.executable, "-I", trial.__file__, *task], input=data, capture_output=True, check=True,
            timeout=trial.SECONDS,
        )  # fmt: skip
    except subprocess.CalledProcessError as error:
        reason = error.stderr.decode(errors="replace").strip().rpartition("\n")[2].partition(": ")[2]
        raise InputError(reason[:200] or "it needs too much memory or time") from error
    except subprocess.TimeoutExpired as error:
        raise InputError(f"it takes more than {trial.SECONDS} seconds") from error
    except OSError as error:
        raise InputError(f"no process can be started to read it: {error.strerror}") from error
