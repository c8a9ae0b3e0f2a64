"""An app's server in a process of its own, behind a relay that counts what it sends to browsers."""

import asyncio
import contextlib
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
START_UP = 90.0
"""Seconds that a server may take to answer."""


@dataclass(frozen=True)
class Server:
    """A running server: its port, and its process."""

    port: int
    process_id: int


@contextlib.contextmanager
def serve(script: str) -> Iterator[Server]:
    """`streamlit run` a script until the block ends."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    options = (f"--server.port={port}", "--server.address=127.0.0.1")
    process = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", script, *options],
        cwd=ROOT,
        env={**os.environ, "PLAYGROUND_DOWNLOAD": "0"},
        stdout=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + START_UP
        while not _healthy(port):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{script} does not start")
            time.sleep(0.1)
        yield Server(port, process.pid)
    finally:
        process.terminate()
        process.wait()


def resident_bytes(process_id: int) -> int:
    """A process's resident set (Linux)."""
    pages = int(Path(f"/proc/{process_id}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def processor_seconds(process_id: int) -> float:
    """Processor time that a process has taken so far (Linux)."""
    fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _healthy(port: int) -> bool:
    with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=5):
        return True
    return False


class Relay:
    """Passes TCP connections on to a port of this machine and counts what comes back over websockets, or in all.

    Attributes:
        port: where it listens.
        received: bytes on the wire that the browser got, headers included.
    """

    def __init__(self, target: int, *, everything: bool = False) -> None:
        self.received = 0
        self.everything = everything
        self.target = target
        loop = asyncio.new_event_loop()
        threading.Thread(target=loop.run_forever, daemon=True).start()
        listening = asyncio.run_coroutine_threadsafe(asyncio.start_server(self._connect, "127.0.0.1", 0), loop)
        self.port: int = listening.result().sockets[0].getsockname()[1]

    async def _connect(self, browser: asyncio.StreamReader, to_browser: asyncio.StreamWriter) -> None:
        server, to_server = await asyncio.open_connection("127.0.0.1", self.target)
        start = await browser.read(2**16)
        to_server.write(start)
        counted = self.everything or b"/_stcore/stream" in start.partition(b"\r\n")[0]
        await asyncio.gather(
            self._pass_on(browser, to_server, counted=False), self._pass_on(server, to_browser, counted=counted)
        )

    async def _pass_on(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, *, counted: bool) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await source.read(2**16):
                if counted:
                    self.received += len(data)
                sink.write(data)
                await sink.drain()
        with contextlib.suppress(ConnectionError):
            sink.close()
