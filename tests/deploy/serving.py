"""`python -m deploy.serve` as a process of its own, on free ports."""

import contextlib
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from deploy.copies import ROOT, free_ports
from tests.browser.server import Server

START_UP = 120.0
"""Seconds that all copies may take to answer."""


@dataclass
class Served(Server):
    """The app behind nginx: a server of the browser tests, whose copies can be counted and killed."""

    def copies(self) -> dict[int, int]:
        """Process id → port of the copies that run now (Linux)."""
        children = Path(f"/proc/{self.process_id}/task/{self.process_id}/children").read_text().split()
        commands = {int(child): Path(f"/proc/{child}/cmdline").read_text().split("\0") for child in children}
        return {
            child: int(words[words.index("--server.port") + 1])
            for child, words in commands.items()
            if "--server.port" in words
        }


@contextlib.contextmanager
def serve(folder: Path, *arguments: str, **environ: str) -> Iterator[Served]:
    """Run the launcher until the block ends; `folder` takes its log."""
    (port,) = free_ports(1)
    log = folder / "serve.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "deploy.serve", f"--port={port}", *arguments],
            cwd=ROOT,
            env={**os.environ, "PLAYGROUND_DOWNLOAD": "0", **environ},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    served = Served(f"http://127.0.0.1:{port}", log, process_id=process.pid)
    try:
        deadline = time.monotonic() + START_UP
        while not _answers(f"{served.url}/_stcore/health"):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.1)
        yield served
        copies = served.copies()
    finally:
        process.terminate()
        process.wait(timeout=30)
    assert process.returncode == 0, log.read_text()
    assert [copy for copy in copies if Path(f"/proc/{copy}").exists()] == []


def _answers(address: str) -> bool:
    with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=5):
        return True
    return False
