"""A class opens one link at once, leaves, and comes again: how long a page takes, and whether memory stays flat."""

import asyncio
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect

from benchmarks.results import Result
from benchmarks.server import Server, serve

STUDENTS = 60
ROUNDS = 6
PAGE = "attention"


def measure() -> Iterator[Result]:
    """Open the link for everybody at once, again and again."""
    with serve("streamlit_app.py") as app:
        alone = statistics.median(asyncio.run(visit(app.port)) for _ in range(5))
        together: list[float] = []
        memory = []
        for _ in range(ROUNDS):
            together += asyncio.run(open_together(app.port))
            memory.append(resident_bytes(app))
        note = f"slowest {max(together):.1f} s; one alone {1000 * alone:.0f} ms"
        yield Result(f"{STUDENTS} links opened at once, median", statistics.median(together), unit="s", note=note)
        note = f"{memory[-1] / 1e6:.0f} MB / {memory[1] / 1e6:.0f} MB"
        what = f"memory after {ROUNDS * STUDENTS} visits / after {2 * STUDENTS}"
        yield Result(what, memory[-1] / memory[1], 1.05, note=note)


async def open_together(port: int) -> list[float]:
    """Seconds until each of the students has the whole page."""
    return await asyncio.gather(*(visit(port) for _ in range(STUDENTS)))


async def visit(port: int) -> float:
    """Open the page through Streamlit's own protocol, and leave; returns seconds until its script has finished."""
    started = time.perf_counter()
    address = f"ws://127.0.0.1:{port}/_stcore/stream"
    async with connect(address, subprotocols=["streamlit"], max_size=None, open_timeout=60) as socket:  # type: ignore[list-item]
        request = BackMsg()
        request.rerun_script.page_name = PAGE
        await socket.send(request.SerializeToString())
        async for data in socket:
            message = ForwardMsg.FromString(data)
            if message.WhichOneof("type") == "script_finished" and message.script_finished == 0:
                break
        return time.perf_counter() - started


def resident_bytes(server: Server) -> int:
    """The server's resident set (Linux)."""
    pages = int(Path(f"/proc/{server.process_id}/statm").read_text().split()[1])
    return pages * 4096
