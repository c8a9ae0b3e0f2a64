"""What a crash leaves behind is ended by the next start, and nothing else is; with real processes."""

import contextlib
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from deploy import processes
from deploy.configuration import Front
from deploy.copies import ROOT, free_ports
from deploy.processes import Group, ProcessRecord, launcher_folder
from tests.deploy.conftest import Site, wait_for
from tests.deploy.fake_copy import FakeCopy
from tests.deploy.serving import Served, serve, start

SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]


def is_there(process: int) -> bool:
    """Whether a process runs; one that has ended and that nobody has waited for does not."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


@pytest.fixture
def fake() -> Iterator[FakeCopy]:
    running = FakeCopy()
    yield running
    running.stop()


@contextlib.contextmanager
def launched(port: int, fake: FakeCopy, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """`deploy.serve` in front of a fake copy, which answers; it is ended at the end where it still runs."""
    command = [sys.executable, "-m", "deploy.serve", f"--port={port}", f"--at={fake.copy.address}", "--access-log=off"]
    environ = {**os.environ, "TMPDIR": str(folder)}
    with (folder / f"log of {fake.port}").open("ab") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=environ, stdout=log, stderr=log)
    try:
        wait_for(lambda: process.poll() is not None or answers(port) == fake.port)
        yield process
    finally:
        process.terminate()
        process.wait(30)


def answers(port: int) -> int:
    """Which fake copy answers through nginx on a port."""
    seen: int = Site(Front(Path(), port=port), [], None).ask("/").seen["port"]  # type: ignore[arg-type]
    return seen


def ask_health(served: Served) -> bool:
    """Whether the app answers through nginx."""
    with urllib.request.urlopen(f"{served.url}/_stcore/health", timeout=5) as answer:
        return bool(answer.status == 200)


def masters(launcher: int) -> list[int]:
    """The processes that a launcher has started."""
    return list(map(int, Path(f"/proc/{launcher}/task/{launcher}/children").read_text().split()))


def has_other_children(launcher: int, before: list[int]) -> bool:
    """Whether a launcher has children again, and others than before."""
    return masters(launcher) not in ([], before)


def children(process: int) -> set[int]:
    return set(masters(process))


def test_a_lost_master_is_started_again_while_the_launcher_serves(folder: Path, fake: FakeCopy) -> None:
    (port,) = free_ports(1)
    with launched(port, fake, folder) as launcher:
        for _ in range(2):
            (master,) = masters(launcher.pid)
            orphans = children(master)
            assert orphans
            os.kill(master, signal.SIGKILL)
            wait_for(partial(has_other_children, launcher.pid, [master]))
            wait_for(lambda: answers(port) == fake.port)
            wait_for(lambda: not any(map(is_there, orphans)))  # noqa: B023
        (master,) = masters(launcher.pid)
        launcher.terminate()
        assert launcher.wait(30) == 0
    assert not is_there(master)
    assert [each.name for each in folder.iterdir() if each.is_dir()] == []


def test_after_the_launchers_death_another_ends_what_it_left_and_nothing_else(folder: Path, fake: FakeCopy) -> None:
    port, elsewhere = free_ports(2)
    other = FakeCopy()
    with launched(elsewhere, fake, folder) as neighbour:
        bystanders = [*masters(neighbour.pid), *children(masters(neighbour.pid)[0])]
        with launched(port, fake, folder) as first:
            (master,) = masters(first.pid)
            orphans = {master, *children(master)}
            first.kill()
            first.wait(30)
            assert answers(port) == fake.port, "what is left goes on until it is replaced"
        with launched(port, other, folder) as second:
            assert second.poll() is None
            assert answers(port) == other.port
            wait_for(lambda: not any(map(is_there, orphans)))
            with launched(port, fake, folder) as third:
                assert third.wait(30) == 1, "while a launcher lives, its processes are no orphans"
            assert answers(port) == other.port
        assert all(map(is_there, bystanders))
        assert answers(elsewhere) == fake.port
    other.stop()


def test_after_both_deaths_the_workers_alone_are_ended(folder: Path, fake: FakeCopy) -> None:
    (port,) = free_ports(1)
    with launched(port, fake, folder) as first:
        (master,) = masters(first.pid)
        orphans = children(master)
        for process in (first.pid, master):
            os.kill(process, signal.SIGKILL)
        first.wait(30)
    other = FakeCopy()  # what the orphans do not know
    with launched(port, other, folder) as second:
        assert second.poll() is None
        assert not any(map(is_there, orphans))
    other.stop()


def test_a_port_that_somebody_else_holds_is_left_to_them(folder: Path, fake: FakeCopy) -> None:
    holder = FakeCopy()
    with launched(holder.port, fake, folder) as launcher:
        assert launcher.wait(30) == 1
    assert "does something else listen on its port?" in (folder / f"log of {fake.port}").read_text()
    holder.stop()


def test_copies_of_a_launcher_that_died_are_replaced(tmp_path: Path, folder: Path) -> None:
    first, served = start(tmp_path, "--copies=1", TMPDIR=str(folder))
    try:
        served.wait_until_answered(first)
        left = served.copies()
    finally:
        first.kill()
        first.wait(30)
    port = int(served.url.rpartition(":")[2])
    assert [is_there(copy) for copy in left] == [True]
    with serve(tmp_path, "--copies=1", port=port, TMPDIR=str(folder)) as again:
        wait_for(lambda: not any(map(is_there, left)))  # until then it is they who answer
        wait_for(lambda: len(again.copies()) == 1 and ask_health(again), seconds=120)


def test_what_only_looks_like_a_process_on_record_is_left_alone(tmp_path: Path) -> None:
    record, running = ProcessRecord(tmp_path / "processes"), [
        subprocess.Popen(SLEEP, process_group=0) for _ in range(4)
    ]  # fmt: skip
    try:
        own, later, rebooted, another_program = [Group.of(each.pid) for each in running]
        lines = [own, later._replace(started=later.started - 1), rebooted._replace(machine_start="x"),
                 another_program._replace(program="/usr/sbin/nginx")]  # fmt: skip
        record.file.write_text("".join("\t".join(map(str, line)) + "\n" for line in lines) + "12\t", encoding="utf-8")
        assert record.end_left_over() == [own.leader]
        assert [each.poll() is None for each in running] == [False, True, True, True]
        assert record.end_left_over() == []
    finally:
        for each in running:
            each.kill()
            each.wait()


def test_a_folder_of_somebody_else_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes.tempfile, "gettempdir", lambda: str(tmp_path))  # type: ignore[attr-defined]
    with launcher_folder(1) as folder:
        name = folder.name
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / name).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RuntimeError, match="not a folder of this user"), launcher_folder(1):
        pass
