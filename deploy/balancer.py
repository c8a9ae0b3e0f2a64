"""nginx as a process: started, told of other copies, started again where it was lost, and ended."""

import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from deploy.configuration import NO_ANSWER, NO_ANSWER_PAGE, Copy, Front, configuration
from deploy.processes import RECORD, Group, ProcessRecord


class Balancer:
    """nginx in front of the copies.

    Args:
        front: how the outside reaches it.
        copies: the copies it starts with.

    Raises:
        RuntimeError: nginx is not installed, or refuses the configuration; with its own words.
    """

    def __init__(self, front: Front, copies: Sequence[Copy]) -> None:
        self.front = front
        self.copies = sorted(set(copies))
        self.file = front.folder / "nginx.conf"
        self.group: Group | None = None
        self._write(self.copies)
        self.start()

    def start(self) -> None:
        """Start nginx, anew where its master was lost: the workers that it has left hold the port, and are ended."""
        if self.group:
            self.group.end()
        self.started = time.monotonic()
        self.process = subprocess.Popen(self._command(), process_group=0)  # noqa: S603 - our own words
        self.group = ProcessRecord(self.front.folder / RECORD).note(self.process.pid)

    def use(self, copies: Sequence[Copy]) -> None:
        """Pass visitors on to these copies from now on; connections that are open stay where they are."""
        if sorted(set(copies)) == self.copies:
            return
        before = self.file.read_text(encoding="utf-8")
        try:
            self._write(copies)
        except RuntimeError:
            self.file.write_text(before, encoding="utf-8")
            raise
        self.copies = sorted(set(copies))
        self.process.send_signal(signal.SIGHUP)

    def ended(self) -> bool:
        """Whether nginx is no longer there."""
        return self.process.poll() is not None

    def stop(self) -> None:
        """End nginx, and what a lost master has left."""
        self.process.terminate()
        self.process.wait()
        if self.group:
            self.group.end()

    def _write(self, copies: Sequence[Copy]) -> None:
        self.file.write_text(configuration(copies, self.front), encoding="utf-8")
        (self.front.folder / NO_ANSWER).write_text(NO_ANSWER_PAGE, encoding="utf-8")
        tried = subprocess.run([*self._command(), "-t", "-q"], capture_output=True, text=True, check=False)  # noqa: S603
        if tried.returncode:
            raise RuntimeError(f"nginx refuses its configuration:\n{tried.stderr.strip()}")

    def _command(self) -> list[str]:
        # -e: until it has read the configuration, nginx would write to its package's log file.
        return [nginx(), "-e", "stderr", "-p", str(self.front.folder), "-c", str(self.file)]


def nginx() -> str:
    """The path of nginx's program.

    Raises:
        RuntimeError: it is not installed.
    """
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
    if program is None:
        raise RuntimeError("nginx is not installed: on Debian, `apt-get install nginx-light`.")
    return str(Path(program))
