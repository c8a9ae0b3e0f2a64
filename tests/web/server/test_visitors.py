"""How many pages may be open."""

import asyncio
from unittest.mock import AsyncMock

import pytest
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.types import Receive, Scope, Send

from playground.web.server.visitors import RETRY_AFTER, SessionCap, Visitors
from tests.waiting import run_coroutine
from tests.web.server.test_server import BROWSER, INSIDE, STREAM


def test_at_the_cap_a_page_load_is_asked_to_wait_and_a_websocket_refused() -> None:
    visitors = Visitors(1)
    with TestClient(SessionCap(INSIDE, visitors)) as client:
        with client.websocket_connect("/another/socket") as websocket:  # the stream alone counts
            assert client.get("/", headers=BROWSER).text == "inside"
            websocket.send_text("done")
        with client.websocket_connect(STREAM) as websocket:
            assert (visitors.open, visitors.is_full) == (1, True)
            page = client.get("/attention?text=hello", headers=BROWSER)
            assert (page.status_code, page.headers["retry-after"]) == (503, str(RETRY_AFTER))
            assert f'content="{RETRY_AFTER}"' in page.text
            assert client.get("/static/app.js").text == "inside"
            with pytest.raises(WebSocketDenialResponse) as refused, client.websocket_connect(STREAM):
                pytest.fail("it came in")
            assert refused.value.status_code == 503
            websocket.send_text("done")
        assert client.get("/attention", headers=BROWSER).text == "inside"


@pytest.mark.parametrize("fails", [False, True])
def test_the_count_falls_when_the_application_fails_or_the_server_cancels_a_visit(fails: bool) -> None:
    counts: list[int] = []

    async def inside(scope: Scope, receive: Receive, send: Send) -> None:
        counts.append(visitors.open)
        if fails:
            raise RuntimeError("the application inside failed")
        await asyncio.Event().wait()

    async def visit() -> BaseException | None:
        task = asyncio.create_task(cap({"type": "websocket", "path": STREAM, "headers": []}, AsyncMock(), AsyncMock()))
        while not counts:
            await asyncio.sleep(0)
        if not fails:
            task.cancel()
        await asyncio.wait([task])
        return None if task.cancelled() else task.exception()

    visitors = Visitors(3)
    cap = SessionCap(inside, visitors)
    assert isinstance(run_coroutine(visit()), RuntimeError) == fails
    assert (counts, visitors.open) == ([1], 0)
    assert visitors.last_left is not None
