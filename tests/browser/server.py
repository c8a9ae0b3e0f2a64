"""The app's own server in a process of its own, on a free port."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from playground.weights.checkpoint import MINILM_PACKAGE, minilm_path

ROOT = Path(__file__).resolve().parents[2]
STREAMLIT = ("-m", "streamlit", "run")
START_UP = 90.0
"""Seconds that a server may take to answer; on two busy cores importing torch alone takes several."""


@dataclass
class Server:
    """A running server: its address, and what it has logged."""

    url: str
    log: Path
    process_id: int = 0
    _read: int = 0

    def tracebacks(self) -> list[str]:
        """What it has logged of errors since this was last asked."""
        text = self.log.read_text(encoding="utf-8", errors="replace")
        new, self._read = text[self._read :], len(text)
        return [new] if "Traceback" in new else []


@contextlib.contextmanager
def serve(folder: Path, *command: str, port: int = 0, **environ: str) -> Iterator[Server]:
    """Run `python <command> streamlit_app.py` until the block ends; `folder` takes its log. Port 0: a free one."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = port or free.getsockname()[1]
    options = (f"--server.port={port}", "--server.address=127.0.0.1")
    log = folder / "server.log"
    own = {"PLAYGROUND_DOWNLOAD": "0", "PLAYGROUND_NETWORKS": str(folder / "networks")}
    own["PLAYGROUND_MAX_TRAINING_SECONDS"] = "1e6"  # a slow machine refuses no run
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, *command, "streamlit_app.py", *options],
            cwd=ROOT,
            env={**os.environ, **own, **environ},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        _wait(f"http://127.0.0.1:{port}/_stcore/health", process, log)
        yield Server(f"http://127.0.0.1:{port}", log, process.pid)
    finally:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def copy_weights(folder: Path) -> dict[str, str]:
    """Copy the trained weights into a folder; returns the settings of a server that looks for them there alone."""
    weights = minilm_path()
    assert weights is not None
    shutil.copytree(weights, folder / MINILM_PACKAGE / "model")
    (folder / MINILM_PACKAGE / "__init__.py").touch()
    return {"PYTHONPATH": str(folder), "HF_HOME": str(folder)}


def _wait(health: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_UP
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"The server ended at once:\n{log.read_text()}")
        with contextlib.suppress(OSError), urllib.request.urlopen(health, timeout=5):
            return
        time.sleep(0.1)
    raise RuntimeError(f"The server did not answer within {START_UP:g} s:\n{log.read_text()}")
