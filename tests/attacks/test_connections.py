"""Connections that say nothing take nobody's place, and a server that hangs ends itself."""

import os
import signal
import socket
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from playground.web.server.liveness import FIRST_REQUEST, HANGS_AFTER, MOST_SILENT
from tests.attacks.client import ask, port_of
from tests.browser.server import serve

FEW = 320
"""Files that the server may have open: about a hundred of them it needs itself."""

START = f"""
import resource, signal, sys, time
from streamlit.web import cli

signal.signal(signal.SIGUSR1, lambda *_: time.sleep(600))
resource.setrlimit(resource.RLIMIT_NOFILE, ({FEW} - 60, {FEW}))
sys.argv[:1] = ["streamlit", "run"]
cli.main()
"""


def has_ended(connection: socket.socket) -> bool:
    """Whether the other side has ended a connection by now."""
    connection.setblocking(False)
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


def is_listening(port: int) -> bool:
    """Whether something takes connections there; a process that hangs does."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.long
def test_silent_connections_leave_room_and_end(tmp_path: Path) -> None:
    with serve(tmp_path, "-c", START) as server, ExitStack() as stack:
        limits = Path(f"/proc/{server.process_id}/limits").read_text()
        assert next(line.split()[3:5] for line in limits.splitlines() if "open files" in line) == [str(FEW)] * 2
        silent = []
        for n in range(3 * FEW):
            silent.append(stack.enter_context(socket.create_connection(("127.0.0.1", port_of(server)), timeout=10)))
            if n % 2:
                silent[-1].sendall(b"GET / HTTP/1.1\r\nHost: a.b\r\n")  # and never the rest
        assert ask(server, "/_stcore/health") == (200, "ok")
        assert ask(server, "/attention")[0] == 200
        assert sum(not has_ended(each) for each in silent) <= MOST_SILENT
        deadline = time.monotonic() + FIRST_REQUEST + 10
        while not all(map(has_ended, silent)):
            assert time.monotonic() < deadline
            time.sleep(0.2)
        assert server.tracebacks() == []
        assert server.log.stat().st_size < 10_000


@pytest.mark.long
def test_a_second_request_has_to_come_as_soon_as_a_first(tmp_path: Path) -> None:
    request = b"GET /_stcore/health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with serve(tmp_path, "-c", START) as server, socket.create_connection(("127.0.0.1", port_of(server))) as slow:
        slow.settimeout(2 * FIRST_REQUEST + 10)
        for _ in range(2):
            slow.sendall(request)
            answer = b""
            while not answer.endswith(b"\r\n\r\nok"):
                answer += slow.recv(4_096)
        slow.sendall(request[:9])  # which ends uvicorn's own limit between two requests
        while slow.recv(4_096):
            pass


@pytest.mark.long
def test_a_server_that_hangs_ends_with_one_line(tmp_path: Path) -> None:
    with serve(tmp_path, "-c", START) as server:
        before = server.log.read_text()
        os.kill(server.process_id, signal.SIGUSR1)
        deadline = time.monotonic() + 2 * HANGS_AFTER + 20
        while is_listening(port_of(server)):
            assert time.monotonic() < deadline
            time.sleep(0.5)
        (line,) = server.log.read_text().removeprefix(before).splitlines()
        assert "CRITICAL" in line
        assert "this process ends" in line
