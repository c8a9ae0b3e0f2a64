"""How many pages may be open, of all visitors and of one; and which make room for others."""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from unittest.mock import AsyncMock

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient, WebSocketDenialResponse, WebSocketTestSession
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect
from streamlit.web.server.starlette.starlette_app_utils import generate_xsrf_token_string

from playground.web.server import visitors as module
from playground.web.server.visitors import Client, SessionCap, Visitors, client_of
from tests.waiting import run_coroutine

STREAM = "/_stcore/stream"
BROWSER = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
AGAIN = ["streamlit", "token", "a-session"]
"""How a page shakes hands that had this session before."""


async def _page(request: Request) -> PlainTextResponse:
    return PlainTextResponse("inside")


async def _stream(websocket: WebSocket) -> None:
    await websocket.accept(subprotocol="streamlit" if websocket.scope["subprotocols"] else None)
    with suppress(WebSocketDisconnect):
        while await websocket.receive_text() != "done":
            await websocket.send_text("heard")


INSIDE = Starlette(routes=[Route("/{path:path}", _page), WebSocketRoute("/{path:path}", _stream)])


class Clock:
    """The time that visits are measured with."""

    now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(module, "monotonic", clock.monotonic)
    return clock


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def refusal(client: TestClient, **options: object) -> int:
    """The status with which a new page is refused."""
    with pytest.raises(WebSocketDenialResponse) as refused, client.websocket_connect(STREAM, **options):  # type: ignore[arg-type]
        pytest.fail("it came in")
    return refused.value.status_code


def enter(stack: ExitStack, client: TestClient, *, speaks: bool = True, **options: object) -> WebSocketTestSession:
    """A page that is open until the test ends."""
    page = client.websocket_connect(STREAM, **options)  # type: ignore[arg-type]
    stack.enter_context(page)
    if speaks:
        speak(page)
    return page


def speak(page: WebSocketTestSession) -> None:
    page.send_text("a choice")
    assert page.receive_text() == "heard"


def close_code(page: WebSocketTestSession) -> int:
    with pytest.raises(WebSocketDisconnect) as closed:
        page.receive_text()
    return closed.value.code


def test_at_the_cap_a_page_load_is_asked_to_wait_and_a_websocket_refused() -> None:
    cap = SessionCap(INSIDE, Visitors(1), retry_after=7)
    with TestClient(cap) as client:
        with client.websocket_connect("/another/socket") as websocket:  # the stream alone counts
            assert client.get("/", headers=BROWSER).text == "inside"
            websocket.send_text("done")
        with client.websocket_connect(STREAM) as websocket:
            page = client.get("/attention?text=hello", headers=BROWSER)
            assert page.status_code == 503
            assert page.headers["retry-after"] == "7"
            assert "tries again every 7 seconds" in page.text
            assert client.get("/static/app.js").text == "inside"
            assert refusal(client) == 503
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


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("127.0.0.1", ""),
        ("::1", ""),
        ("::ffff:127.0.0.1", ""),
        ("", ""),
        ("no address", "no address"),
    ],
)
def test_a_client_is_a_network_address(host: str, address: str) -> None:
    assert client_of({"type": "http", "headers": [], "client": (host, 1)}) == Client(address)
    assert client_of({"type": "http", "headers": []}) == Client()


def test_a_browser_is_known_by_streamlits_cookie_whatever_stands_in_it() -> None:
    def browser(cookie: str) -> str:
        return client_of({"type": "http", "headers": [(b"cookie", cookie.encode("latin-1"))]}).browser

    token = b"sixteen bytes..."
    masked = {f"a=b; _streamlit_xsrf={generate_xsrf_token_string(token)}" for _ in range(3)}
    assert len(masked) == 3
    assert {browser(cookie) for cookie in masked} == {token.hex()}
    for junk in ("", "_streamlit_xsrf=", "_streamlit_xsrf=2|x|y|z", "_streamlit_xsrf=2|00|ff", ";;;=\xff", "=" * 9000):
        assert browser(junk) == ""


def test_a_page_that_is_not_used_makes_room_where_it_is_needed_and_not_before(clock: Clock, stack: ExitStack) -> None:
    visitors = Visitors(2, idle_after=3600)
    client = stack.enter_context(TestClient(SessionCap(INSIDE, visitors)))
    reader, other = enter(stack, client), enter(stack, client)
    clock.now += 3000
    speak(other)
    clock.now += 599
    assert client.get("/", headers=BROWSER).status_code == 503
    assert refusal(client) == 503
    clock.now += 2
    assert (visitors.open, visitors.is_full) == (2, False)
    assert client.get("/", headers=BROWSER).status_code == 200
    assert refusal(client, subprotocols=AGAIN) == 503  # a page that made room does not take another's place in turn
    newcomer = enter(stack, client)
    assert close_code(reader) == 1013
    speak(other)
    speak(newcomer)
    assert (visitors.open, visitors.is_full) == (2, True)


def test_a_new_page_that_says_nothing_is_closed_and_one_that_comes_back_makes_room(
    clock: Clock, stack: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    visitors = Visitors(1)
    client = stack.enter_context(TestClient(SessionCap(INSIDE, visitors)))
    again = enter(stack, client, speaks=False, subprotocols=AGAIN)
    assert refusal(client) == 503
    clock.now += module.FIRST_MESSAGE + 1
    monkeypatch.setattr(module, "FIRST_MESSAGE", 0.1)
    clock_runs = enter(stack, client, speaks=False)
    assert close_code(again) == 1013
    assert close_code(clock_runs) == 1008


def test_one_client_has_a_share(stack: ExitStack, clock: Clock) -> None:
    visitors = Visitors(8, per_browser=2, address_share=0.5)
    cap = SessionCap(INSIDE, visitors)
    here, there, proxy = (
        stack.enter_context(TestClient(cap, client=(host, 1))) for host in ("192.0.2.7", "192.0.2.8", "127.0.0.1")
    )
    ann, ben = ({"cookie": f"_streamlit_xsrf={generate_xsrf_token_string(name * 4)}"} for name in (b"anna", b"ben."))
    first = enter(stack, here, headers=ann)
    enter(stack, here, headers=ann)
    assert refusal(here, headers=ann) == 503
    assert "This browser" in here.get("/", headers={**BROWSER, **ann}).text
    enter(stack, here, headers=ben)
    enter(stack, here)
    assert refusal(here, headers=ben) == 503
    assert "Your network" in here.get("/", headers={**BROWSER, **ben}).text
    enter(stack, there, headers=ben)
    assert there.get("/", headers={**BROWSER, **ben}).status_code == 503
    for _ in range(3):
        enter(stack, proxy)
    assert "is full" in proxy.get("/", headers=BROWSER).text
    clock.now += 3601
    for page in range(2):
        enter(stack, here, headers=ann)  # in the place of one's own
        if not page:
            assert close_code(first) == 1013
    assert visitors.open == 8
