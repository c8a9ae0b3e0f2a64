"""Compresses Streamlit's front end as well as Brotli can: `python -m playground.web.server.compress_front_end`.

It takes about a minute, once for each version of Streamlit; without it the server compresses quickly and less well.
"""

import logging
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import brotli

from playground.web.server.front_end import FRONT_END, KEPT, chart_code, compressible

logger = logging.getLogger(__name__)

LARGEST = 500_000
"""Bytes: what is larger belongs to elements that no page here has, Plotly's charts and the messages' format apart."""

NEEDED = ("protobuf.",)
"""How the large files begin that every page needs."""


def main(folder: Path = FRONT_END, kept: Path = KEPT) -> int:
    """Write each file's compressed form to `kept` where it is not there yet; returns the exit status.

    Where the disk is full, one line says so, and the server compresses what is missing itself.
    """
    charts = {folder / path for path in chart_code(folder)}
    files = [
        path
        for path in compressible(folder)
        if path.stat().st_size <= LARGEST or path in charts or path.name.startswith(NEEDED)
    ]
    try:
        kept.mkdir(parents=True, exist_ok=True)
        with ThreadPoolExecutor(os.cpu_count()) as pool:  # Brotli lets other threads run meanwhile
            list(pool.map(lambda path: keep(path, kept), sorted(files, key=lambda path: -path.stat().st_size)))
    except OSError as error:
        logger.error("The front end is not compressed ahead, for %s can't be written: %s", kept, error.strerror)
        return 1
    return 0


def keep(path: Path, kept: Path) -> None:
    """Write one file; under its name only when it is whole, so that nobody reads a part."""
    compressed = kept / f"{path.name}.br"
    if not compressed.is_file():
        part = compressed.with_suffix(f".{os.getpid()}.part")
        try:
            part.write_bytes(brotli.compress(path.read_bytes(), quality=11))
            part.replace(compressed)
        finally:
            part.unlink(missing_ok=True)


if __name__ == "__main__":
    sys.exit(main())
