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

    def wait_until_answered(self, process: subprocess.Popen[bytes]) -> None:
        """Wait until the app answers through nginx."""
        deadline = time.monotonic() + START_UP
        while not _answers(f"{self.url}/_stcore/health"):
            assert process.poll() is None, self.log.read_text()
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.1)


@contextlib.contextmanager
def serve(folder: Path, *arguments: str, port: int = 0, **environ: str) -> Iterator[Served]:
    """Run the launcher until the block ends, on a free port by default; `folder` takes its log."""
    process, served = start(folder, *arguments, port=port, **environ)
    try:
        served.wait_until_answered(process)
        yield served
        copies = served.copies()
    finally:
        process.terminate()
        process.wait(timeout=30)
    assert process.returncode == 0, served.log.read_text()
    assert [copy for copy in copies if Path(f"/proc/{copy}").exists()] == []


def start(folder: Path, *arguments: str, port: int = 0, **environ: str) -> tuple[subprocess.Popen[bytes], Served]:
    """The launcher as a process, which may not answer yet, and what it serves."""
    port = port or free_ports(1)[0]
    log = folder / "serve.log"
    with log.open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "deploy.serve", f"--port={port}", *arguments],
            cwd=ROOT,
            env={**os.environ, "PLAYGROUND_DOWNLOAD": "0", **environ},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    return process, Served(f"http://127.0.0.1:{port}", log, process_id=process.pid)


def _answers(address: str) -> bool:
    with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=5):
        return True
    return False
