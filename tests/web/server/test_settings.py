"""What an operator sets, what the server says at its start, and what it does where the disk is full."""

import asyncio
import errno
import logging
import tempfile

import pytest
from starlette.applications import Starlette
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartParser
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.types import Message, Receive, Scope, Send
from starlette.websockets import WebSocketDisconnected

from playground.runs.budget import MAX_KEPT
from playground.web.server.middleware import STREAM_PATH
from playground.web.server.settings import Settings
from playground.web.server.uploads import FilterMessages, FullDisk
from tests.waiting import run_coroutine


def test_the_results_of_two_settings_fit_at_their_largest() -> None:
    """Else a page that compares them computes each anew, again and again."""
    assert Settings().max_cached_results > 2 * 4 * MAX_KEPT


@pytest.mark.parametrize(("error", "is_expected"), [(WebSocketDisconnected("closed"), True), (KeyError("x"), False)])
def test_a_visitor_who_left_is_one_line_and_any_other_error_goes_on(
    error: Exception, is_expected: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(_scope: Scope, _receive: Receive, _send: Send) -> None:
        raise error

    async def serve() -> None:
        await FilterMessages(fail)({"type": "websocket", "path": STREAM_PATH}, None, None)  # type: ignore[arg-type]

    with caplog.at_level(logging.INFO):
        if is_expected:
            run_coroutine(serve())
        else:
            with pytest.raises(KeyError):
                run_coroutine(serve())
    assert [(record.levelname, record.exc_info) for record in caplog.records] == [("INFO", None)] * is_expected


PATH = "/_stcore/upload_file/session-of-ann/file-1"
LARGE = bytes(3_000_000)


async def take(request: Request) -> PlainTextResponse:
    async with request.form() as form:
        upload = form["file"]
        assert isinstance(upload, UploadFile)
        return PlainTextResponse(str(len(await upload.read())))


def client(free: int) -> TestClient:
    app = Starlette(routes=[Route(PATH, take, methods=["PUT"])], middleware=[Middleware(FullDisk, free=lambda: free)])
    return TestClient(app, raise_server_exceptions=False)


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """No file of a part can be made on the disk."""

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tempfile.SpooledTemporaryFile, "rollover", refuse)


@pytest.mark.usefixtures("full_disk")
def test_where_the_disk_has_no_room_a_file_is_read_in_memory(caplog: pytest.LogCaptureFixture) -> None:
    before = MultiPartParser.spool_max_size
    answer = client(free=1_000_000).put(PATH, files={"file": LARGE})
    assert (answer.status_code, answer.text) == (200, "3000000")
    assert MultiPartParser.spool_max_size == before
    assert caplog.text == ""


@pytest.mark.usefixtures("full_disk")
def test_a_disk_that_fills_meanwhile_is_one_sentence_and_one_line(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="playground"):
        answer = client(free=10**9).put(PATH, files={"file": LARGE})
    assert answer.status_code == 507
    assert answer.text.startswith("The server has no room")
    (line,) = [record.getMessage() for record in caplog.records if record.name.startswith("playground")]
    assert "No space left" in line
    assert "ann" not in line


@pytest.mark.usefixtures("full_disk")
def test_who_comes_while_another_file_is_read_in_memory_is_told_and_does_not_wait() -> None:
    async def never(*_: object) -> None:
        await asyncio.Event().wait()

    async def ask_twice() -> list[Message]:
        sent: list[Message] = []

        async def send(message: Message) -> None:
            sent.append(message)

        scope = {"type": "http", "method": "PUT", "path": PATH, "headers": []}
        layer = FullDisk(never, free=lambda: 0)
        first = asyncio.create_task(layer(scope, never, send))  # type: ignore[arg-type]
        await asyncio.sleep(0)
        await asyncio.wait_for(layer(scope, never, send), 20)  # type: ignore[arg-type]
        first.cancel()
        return sent

    begin, body = run_coroutine(ask_twice())
    assert begin["status"] == 507
    assert body["body"].startswith(b"The server has no room")


def test_where_there_is_room_nothing_changes() -> None:
    assert client(free=10**9).put(PATH, files={"file": LARGE}).text == "3000000"
