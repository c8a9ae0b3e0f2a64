"""The layers around Streamlit's server, driven as bare ASGI applications, and the settings that they read."""

import logging
from contextlib import nullcontext
from dataclasses import fields

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnected

import streamlit_app
from playground.runs.budget import MAX_KEPT, MAX_PARAMETERS
from playground.web.server.messages import FilterMessages
from playground.web.server.middleware import PageAddress, SecurityHeaders
from playground.web.server.settings import Settings, read_settings
from tests.waiting import run_coroutine

STREAM = "/_stcore/stream"
BROWSER = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


async def _page(request: Request) -> PlainTextResponse:
    return PlainTextResponse("inside")


async def _stream(websocket: WebSocket) -> None:
    await websocket.accept()
    await websocket.receive_text()


INSIDE = Starlette(routes=[Route("/{path:path}", _page), WebSocketRoute("/{path:path}", _stream)])


@pytest.mark.parametrize("frame_ancestors", ["'self'", "'self' https://school.example"])
def test_every_answer_carries_the_security_headers(frame_ancestors: str) -> None:
    with TestClient(SecurityHeaders(INSIDE, frame_ancestors)) as client:
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
    with TestClient(PageAddress(INSIDE, base), follow_redirects=False) as client:
        answer = client.get(path, headers=BROWSER)
        assert client.get(path, headers={"accept": "*/*"}).status_code == 200
    assert answer.status_code == (307 if location else 200)
    assert answer.headers.get("location") == location


@pytest.mark.parametrize(("error", "is_expected"), [(WebSocketDisconnected("closed"), True), (KeyError("x"), False)])
def test_a_visitor_who_left_is_one_line_and_any_other_error_goes_on(
    error: Exception, is_expected: bool, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(_scope: Scope, _receive: Receive, _send: Send) -> None:
        raise error

    async def serve() -> None:
        await FilterMessages(fail)({"type": "websocket", "path": STREAM}, None, None)  # type: ignore[arg-type]

    with caplog.at_level(logging.INFO), nullcontext() if is_expected else pytest.raises(KeyError):
        run_coroutine(serve())
    assert [(record.levelname, record.exc_info) for record in caplog.records] == [("INFO", None)] * is_expected


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
        with caplog.at_level(logging.WARNING):
            assert read_settings({variable: value}) == Settings()
        assert [record.levelname for record in caplog.records] == ["WARNING"]
        assert variable in caplog.text
        assert "secret" not in caplog.text


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
