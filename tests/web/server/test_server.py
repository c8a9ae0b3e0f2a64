"""The layer around Streamlit's server, driven as a bare ASGI application, and the settings that it reads."""

import asyncio
import logging
from contextlib import nullcontext
from dataclasses import fields
from unittest.mock import AsyncMock

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnected
from streamlit.proto.BackMsg_pb2 import BackMsg

import streamlit_app
from playground.runs.budget import MAX_KEPT, MAX_PARAMETERS
from playground.web.server.middleware import RETRY_AFTER, Protection, Visitors
from playground.web.server.settings import Settings, read_settings
from tests.waiting import run_coroutine

STREAM = "/_stcore/stream"
BROWSER = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
RERUN = BackMsg(stop_script=True).SerializeToString()


async def _page(request: Request) -> PlainTextResponse:
    return PlainTextResponse("inside")


async def _stream(websocket: WebSocket) -> None:
    await websocket.accept()
    await websocket.receive_bytes()


INSIDE = Starlette(routes=[Route("/{path:path}", _page), WebSocketRoute("/{path:path}", _stream)])


@pytest.mark.parametrize("frame_ancestors", ["'self'", "'self' https://school.example"])
def test_every_answer_carries_the_security_headers(frame_ancestors: str) -> None:
    with TestClient(Protection(INSIDE, Visitors(1), frame_ancestors)) as client:
        headers = client.get("/attention").headers
    policy = dict(directive.split(" ", 1) for directive in headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'self'"
    assert policy["frame-ancestors"] == frame_ancestors
    assert "unsafe" not in policy["script-src"]
    assert "'sha256-" in policy["script-src"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "camera=()" in headers["permissions-policy"]


@pytest.mark.parametrize(
    ("base", "path", "location"),
    [
        ("/play", "/play/ladder", "/play/parts?parts_view=from+2017+to+today"),
        ("", "/ladder?seed=3", "/parts?parts_view=from+2017+to+today&seed=3"),
        ("", "/attention", None),
        ("", "/", None),
    ],
)
def test_a_page_that_has_moved_is_found(base: str, path: str, location: str | None) -> None:
    with TestClient(Protection(INSIDE, Visitors(1), base=base), follow_redirects=False) as client:
        answer = client.get(path, headers=BROWSER)
        assert client.get(path, headers={"accept": "*/*"}).status_code == 200
    assert answer.status_code == (307 if location else 200)
    assert answer.headers.get("location") == location


def test_at_the_cap_a_page_load_is_asked_to_wait_and_a_websocket_refused() -> None:
    visitors = Visitors(1)
    with TestClient(Protection(INSIDE, visitors)) as client:
        with client.websocket_connect("/another/socket") as websocket:  # the stream alone counts
            assert client.get("/", headers=BROWSER).text == "inside"
            websocket.send_bytes(RERUN)
        with client.websocket_connect(STREAM) as websocket:
            assert (visitors.open, visitors.is_full) == (1, True)
            page = client.get("/attention?text=hello", headers=BROWSER)
            assert page.status_code == 503
            assert page.headers["retry-after"] == page.headers["refresh"] == str(RETRY_AFTER)
            assert client.get("/static/app.js").text == "inside"
            with pytest.raises(WebSocketDenialResponse) as refused, client.websocket_connect(STREAM):
                pytest.fail("it came in")
            assert refused.value.status_code == 503
            websocket.send_bytes(RERUN)
        assert client.get("/attention", headers=BROWSER).text == "inside"


@pytest.mark.parametrize("error", [None, RuntimeError("the application failed"), WebSocketDisconnected("closed")])
def test_the_count_falls_however_a_visit_ends_and_a_visitor_who_left_is_one_line(
    error: Exception | None, caplog: pytest.LogCaptureFixture
) -> None:
    counts: list[int] = []

    async def inside(scope: Scope, receive: Receive, send: Send) -> None:
        counts.append(visitors.open)
        if error is not None:
            raise error
        await asyncio.Event().wait()

    async def visit() -> None:
        scope = {"type": "websocket", "path": STREAM, "headers": []}
        task = asyncio.create_task(protection(scope, AsyncMock(), AsyncMock()))
        await asyncio.sleep(0.01)
        task.cancel()
        await task

    visitors = Visitors(3)
    protection = Protection(inside, visitors)
    is_quiet = isinstance(error, WebSocketDisconnected)
    ends = nullcontext() if is_quiet else pytest.raises((RuntimeError, asyncio.CancelledError))
    with caplog.at_level(logging.INFO), ends:
        run_coroutine(visit())
    assert (counts, visitors.open) == ([1], 0)
    assert visitors.last_left is not None
    assert [(record.levelname, record.exc_info) for record in caplog.records] == [("INFO", None)] * is_quiet


def test_settings_are_read_from_the_environment() -> None:
    texts = {"max_parameters": "5_000_000", "device": "cuda:1", "busy_timeout": "1.5"}
    texts |= {"frame_ancestors": " 'self' https://*.school.example:8443 ", "ray_gpus": "0"}
    assert texts.keys() < {field.name for field in fields(Settings)}
    assert read_settings({}) == Settings(threads=1)
    found = read_settings({f"PLAYGROUND_{name.upper()}": text for name, text in texts.items()})
    sources = "'self' https://*.school.example:8443"
    assert found == Settings(5_000_000, device="cuda:1", busy_timeout=1.5, frame_ancestors=sources)


@pytest.mark.parametrize(
    ("variable", "values"),
    [
        ("PLAYGROUND_MAX_PARAMETERS", ["", "many", "0", "-1", "1e9", "9" * 5000]),
        ("PLAYGROUND_FRAME_ANCESTORS", ["", "*; script-src *", "'self'\r\nset-cookie: a=b", "a, b", "schüle.example"]),
        ("PLAYGROUND_BUSY_TIMEOUT", ["0", "-3", "nan", "inf", "soon"]),
        ("PLAYGROUND_RAY_GPUS", ["-1", "inf", "nan"]),
    ],
)  # fmt: skip
def test_a_bad_value_is_named_and_the_default_used(
    variable: str, values: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    for value in values:
        caplog.clear()
        assert read_settings({variable: value}) == Settings()
        assert [record.levelname for record in caplog.records] == ["WARNING"]
        assert variable in caplog.text


def test_the_results_of_two_settings_fit_at_their_largest() -> None:
    """Else a page that compares them computes each again and again."""
    assert Settings().max_cached > 2 * 4 * MAX_PARAMETERS > 2 * 4 * MAX_KEPT


def test_a_model_that_cannot_be_loaded_does_not_stop_the_server(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> None:
        raise OSError("no weights here")

    async def start() -> str:
        async with streamlit_app.lifespan(streamlit_app.app):
            return "serving"

    monkeypatch.setattr("playground.web.start.checkpoint_available", fail)
    assert run_coroutine(start()) == "serving"
    assert "no weights here" in caplog.text


def test_a_visitor_sees_one_sentence_instead_of_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr("streamlit.error", shown.append)
    assert streamlit_app.explain_script_error(RuntimeError("secret"))
    assert len(shown) == 1
    assert "secret" not in shown[0]
