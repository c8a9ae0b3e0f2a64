"""What of a page's websocket is worth a line in the log; real connections are in tests/attacks/test_messages.py."""

import logging

import pytest
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocketDisconnected

from playground.web.server.middleware import STREAM_PATH
from playground.web.server.uploads import FilterMessages
from tests.waiting import run_coroutine


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
