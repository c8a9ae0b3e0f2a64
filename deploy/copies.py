"""Copies of the app on this machine, each a process with a port of its own, which are kept running."""

import contextlib
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from deploy.configuration import Copy
from deploy.processes import ProcessRecord

ROOT = Path(__file__).resolve().parent.parent

START_UP = 120.0
"""Seconds that a copy may take until it is healthy."""

STOPPING = 10.0
"""Seconds that a copy may take to end once it is asked to."""


@dataclass
class LocalCopy:
    """A copy's process, and where it listens."""

    port: int
    environ: Mapping[str, str]
    record: ProcessRecord
    process: subprocess.Popen[bytes] = field(init=False)
    started: float = field(init=False)

    def __post_init__(self) -> None:
        self.start()

    def start(self) -> None:
        """Start the process, anew where it has ended."""
        options = (
            "--server.port",
            str(self.port),
            "--server.address",
            "127.0.0.1",
            "--logger.hideWelcomeMessage",
            "true",
        )
        command = (sys.executable, "-m", "streamlit", "run", "streamlit_app.py", *options)
        self.started = time.monotonic()
        environ = {**os.environ, **self.environ}
        self.process = subprocess.Popen(command, cwd=ROOT, env=environ, process_group=0)  # noqa: S603 - our own words
        self.record.note(self.process.pid)

    @property
    def copy(self) -> Copy:
        """Its address for the balancer."""
        return Copy(f"127.0.0.1:{self.port}")

    def ended(self) -> bool:
        """Whether the process is no longer there."""
        return self.process.poll() is not None

    def healthy(self) -> bool:
        """Whether it answers."""
        base = self.environ.get("STREAMLIT_SERVER_BASE_URL_PATH", os.environ.get("STREAMLIT_SERVER_BASE_URL_PATH", ""))
        path = f"/{base.strip('/')}/_stcore/health".replace("//", "/")
        with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=2):
            return True
        return False

    def stop(self) -> None:
        """Ask the process to end; it closes its visitors' connections, and their pages connect anew elsewhere."""
        self.process.terminate()

    def wait(self) -> None:
        """Wait until it has ended, and end it where it does not."""
        try:
            self.process.wait(STOPPING)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class LocalCopies:
    """So many copies, started together; one that ends is started again.

    Args:
        n: how many.
        environ: environment variables that all of them get.
        record: where their processes are noted.
    """

    def __init__(self, n: int, environ: Mapping[str, str], record: ProcessRecord) -> None:
        self.environ, self.record = dict(environ), record
        self.running = [LocalCopy(port, self.environ, record) for port in free_ports(n)]

    def copies(self) -> list[Copy]:
        """Their addresses."""
        return [each.copy for each in self.running]

    def replace(self) -> Iterator[tuple[LocalCopy, LocalCopy]]:
        """A new copy for each, one after the other, as (old, new), once the new one is healthy; the old one still runs.

        Raises:
            RuntimeError: the new one does not start; the old ones go on.
        """
        for index, old in enumerate(self.running):
            new = LocalCopy(free_ports(1)[0], self.environ, self.record)
            try:
                wait_until_healthy([new])
            except RuntimeError:
                new.stop()
                new.wait()
                raise
            self.running[index] = new
            yield old, new

    def revive(self, pause: float = 5.0) -> list[LocalCopy]:
        """Start those again that have ended, none more often than every `pause` seconds; returns them."""
        dead = [each for each in self.running if each.ended() and time.monotonic() - each.started > pause]
        for each in dead:
            each.start()
        return dead

    def stop(self) -> None:
        """End all of them together."""
        for each in self.running:
            each.stop()
        for each in self.running:
            each.wait()


def wait_until_healthy(copies: list[LocalCopy]) -> None:
    """Wait for all.

    Raises:
        RuntimeError: one has ended, or takes longer than a start takes.
    """
    deadline = time.monotonic() + START_UP
    for each in copies:
        while not each.healthy():
            if each.ended() or time.monotonic() > deadline:
                raise RuntimeError(f"The copy on port {each.port} did not start.")
            time.sleep(0.1)


def free_ports(n: int) -> list[int]:
    """Ports of this machine that nobody listens on now."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(n)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [int(each.getsockname()[1]) for each in sockets]
