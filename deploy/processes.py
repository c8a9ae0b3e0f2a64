"""The processes that a launcher has started, on record: the next one ends what a crash has left behind (on Linux)."""

import contextlib
import fcntl
import os
import shutil
import signal
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ENDING = 10.0
"""Seconds that a process may take to end once it is asked to."""


RECORD = "processes"
"""Name of the record in a launcher's folder."""

_LOCK = "lock"

_STATE, _GROUP, _STARTED = 0, 2, 19
"""Places in /proc/<process>/stat, counted behind the name (proc(5))."""


class Group(NamedTuple):
    """A process that was started as the leader of a group of its own; what it starts belongs to the group, too."""

    leader: int
    started: int
    """When, in the kernel's ticks since the machine's start: together with the number this names one process."""
    machine_start: str
    program: str
    """The file that it runs."""

    @classmethod
    def of(cls, leader: int) -> "Group":
        """The group of a process that runs now; raises OSError where there is none."""
        return cls(leader, _started(leader), _machine_start(), _program(leader))

    def members(self) -> list[int]:
        """The processes of the group that run now, whether or not its leader does.

        While a group has members, the kernel gives its number to nobody else. So a leader that started at another time
        is somebody else's, and so is what runs another program.
        """
        with contextlib.suppress(OSError):
            if self.machine_start != _machine_start() or _started(self.leader) != self.started:
                return []
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            process = int(folder.name)
            with contextlib.suppress(OSError):
                status = _status(process)
                is_member = int(status[_GROUP]) == self.leader and int(status[_STARTED]) >= self.started
                if is_member and status[_STATE] != "Z" and _program(process) == self.program:
                    found.append(process)
        return found

    def end(self) -> list[int]:
        """Ask its processes to end, and end those that do not; returns them."""
        ended = self.members()
        for ending in (signal.SIGTERM, signal.SIGKILL):
            for process in self.members():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, ending)
            deadline = time.monotonic() + ENDING
            while self.members() and time.monotonic() < deadline:
                time.sleep(0.05)
        return ended


class ProcessRecord:
    """A file with a line for each group that was started; those that have ended since do no harm there."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def note(self, leader: int) -> Group | None:
        """Put a process on record that has just been started; None where it has ended already, or has no /proc."""
        try:
            group = Group.of(leader)
        except OSError:
            return None
        with self.file.open("a", encoding="utf-8") as file:
            file.write("\t".join(map(str, group)) + "\n")
        return group

    def end_left_over(self) -> list[int]:
        """End what still runs of the processes on record, and begin a new record; returns them."""
        lines = self.file.read_text(encoding="utf-8").splitlines() if self.file.exists() else []
        ended = [process for group in filter(None, map(_read_line, lines)) for process in group.end()]
        self.file.unlink(missing_ok=True)
        return ended


@contextlib.contextmanager
def launcher_folder(port: int) -> Iterator[Path]:
    """The folder of the launcher that serves a port: this process has it alone until it ends, however it ends.

    Empty but for the record of a launcher before that has crashed.

    Raises:
        RuntimeError: another launcher has it, or it is another user's.
    """
    folder = Path(tempfile.gettempdir()) / f"playground-serve-{os.geteuid()}-{port}"
    folder.mkdir(exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise RuntimeError(f"{folder} is not a folder of this user: delete it, or set TMPDIR.")
    folder.chmod(0o711)  # nginx's workers, who are not root where it was started by root, have folders inside
    with (folder / _LOCK).open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RuntimeError(f"Another deploy.serve already serves port {port}.") from None
        for each in folder.iterdir():
            if each.is_dir() and not each.is_symlink():
                shutil.rmtree(each, ignore_errors=True)
            elif each.name not in (_LOCK, RECORD):
                each.unlink()
        yield folder
        shutil.rmtree(folder, ignore_errors=True)


def _read_line(line: str) -> Group | None:
    """A line of the record; None where a crash has cut it off."""
    parts = line.split("\t")
    if len(parts) != len(Group._fields) or not (parts[0].isdigit() and parts[1].isdigit()):
        return None
    return Group(int(parts[0]), int(parts[1]), parts[2], parts[3])


def _status(process: int) -> list[str]:
    return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()


def _started(process: int) -> int:
    return int(_status(process)[_STARTED])


def _program(process: int) -> str:
    return os.readlink(f"/proc/{process}/exe").removesuffix(" (deleted)")


def _machine_start() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
