"""Starts the server as on a machine in trouble: `python -m tests.browser.troubled_server <app>`.

Its disk is full: every write to a file fails. Its clock shows what the file in CLOCK says, in seconds from the time.
"""

import os
import resource
import subprocess
import time
from pathlib import Path


def fill_disk() -> None:
    """Let no file take a byte more; what the server prints goes on, through a process that may write."""
    log = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    assert log.stdin is not None
    for stream in (1, 2):
        os.dup2(log.stdin.fileno(), stream)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def follow_file(clock: Path) -> None:
    """Have `time.time` show what the file says."""
    true_time = time.time
    time.time = lambda: true_time() + float(clock.read_text() or 0)


if __name__ == "__main__":
    fill_disk()
    follow_file(Path(os.environ["CLOCK"]))
    import sys

    from streamlit.web import cli

    sys.argv[:1] = ["streamlit", "run"]
    cli.main()
