"""A class opens one link at once, leaves, and comes again: how long a page takes, and whether memory stays flat."""

import asyncio
import statistics
from collections.abc import Iterator

from benchmarks.load.student import visit
from benchmarks.results import Result
from benchmarks.server import resident_bytes, serve

STUDENTS = 60
ROUNDS = 6
PAGE = "attention"


def measure() -> Iterator[Result]:
    """Open the link for everybody at once, again and again."""
    with serve("streamlit_app.py") as app:
        alone = statistics.median(asyncio.run(open_page(app.port)) for _ in range(5))
        together: list[float] = []
        memory = []
        for _ in range(ROUNDS):
            together += asyncio.run(open_together(app.port))
            memory.append(resident_bytes(app.process_id))
        note = f"slowest {max(together):.1f} s; one alone {1000 * alone:.0f} ms"
        yield Result(f"{STUDENTS} links opened at once, median", statistics.median(together), unit="s", note=note)
        note = f"{memory[-1] / 1e6:.0f} MB / {memory[1] / 1e6:.0f} MB"
        what = f"memory after {ROUNDS * STUDENTS} visits / after {2 * STUDENTS}"
        yield Result(what, memory[-1] / memory[1], 1.05, note=note)


async def open_together(port: int) -> list[float]:
    """Seconds until each of the students has the whole page."""
    return await asyncio.gather(*(open_page(port) for _ in range(STUDENTS)))


async def open_page(port: int) -> float:
    """Open the page, and leave; returns seconds until all of it has come."""
    async with visit(port, PAGE) as student:
        return await student.open()
