"""What an operator sets, and what the server says of a visitor who left."""

import logging

import pytest
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocketDisconnected

from playground.runs.budget import MAX_KEPT
from playground.web.server.messages import FilterMessages
from playground.web.server.middleware import STREAM_PATH
from playground.web.server.settings import Settings
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
