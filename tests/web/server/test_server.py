"""The layers around Streamlit's server, driven as bare ASGI applications, and the settings that they read."""

import asyncio
import logging
from dataclasses import fields
from pathlib import Path
from unittest.mock import AsyncMock

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

import streamlit_app
from playground.web.server.middleware import LocalMetrics, PagePath, SecurityHeaders, SessionCap
from playground.web.server.settings import Settings, read_settings

STREAM = "/_stcore/stream"
BROWSER = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


async def _page(request: Request) -> PlainTextResponse:
    return PlainTextResponse("inside")


async def _stream(websocket: WebSocket) -> None:
    await websocket.accept()
    if await websocket.receive_text() == "fail":
        raise RuntimeError("the application inside failed")


INSIDE = Starlette(routes=[Route("/{path:path}", _page), WebSocketRoute("/{path:path}", _stream)])


# --- security headers


def test_every_answer_carries_the_security_headers() -> None:
    with TestClient(SecurityHeaders(INSIDE)) as client:
        headers = client.get("/attention").headers
    policy = dict(directive.split(" ", 1) for directive in headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'self'"
    assert policy["frame-ancestors"] == "'self'"
    assert "unsafe" not in policy["script-src"]
    assert "'sha256-" in policy["script-src"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["x-frame-options"] == "SAMEORIGIN"
    assert "camera=()" in headers["permissions-policy"]


@pytest.mark.parametrize(
    ("frame_ancestors", "frame_options"),
    [("'self'", "SAMEORIGIN"), ("'none'", "DENY"), ("'self' https://school.example", None)],
)
def test_framing_follows_the_setting(frame_ancestors: str, frame_options: str | None) -> None:
    with TestClient(SecurityHeaders(INSIDE, frame_ancestors)) as client:
        headers = client.get("/").headers
    assert headers["content-security-policy"].endswith(f"frame-ancestors {frame_ancestors}")
    assert headers.get("x-frame-options") == frame_options


def test_a_websocket_gets_no_headers() -> None:
    with TestClient(SecurityHeaders(INSIDE)) as client, client.websocket_connect(STREAM) as websocket:
        assert websocket.extra_headers == []
        websocket.send_text("done")


# --- metrics


@pytest.mark.parametrize(
    ("host", "status"),
    [("127.0.0.1", 200), ("::1", 200), ("::ffff:127.0.0.1", 200), ("192.0.2.7", 404), ("2001:db8::7", 404), ("", 404)],
)
def test_metrics_are_for_this_machine_only(host: str, status: int) -> None:
    with TestClient(LocalMetrics(INSIDE), client=(host, 50000)) as client:
        for path in ("/_stcore/metrics", "/_stcore/metrics/", "/base/_stcore/metrics"):
            assert client.get(path).status_code == status
        assert client.get("/_stcore/health").status_code == 200


# --- cap on visitors


@pytest.mark.parametrize(
    ("base", "path", "location"),
    [
        ("", "/attention/extra/path?seed=3&text=a%26b", "/attention?seed=3&text=a%26b"),
        ("", "//elsewhere.example/x", "/elsewhere.example"),
        ("", "/%5Celsewhere.example/x", "/%5Celsewhere.example"),
        ("/play", "/play/attention/extra", "/play/attention"),
        ("", "/attention", None),
        ("", "/", None),
        ("play/", "/play/attention", None),
        ("", "/_stcore/script-health-check", None),
        ("", "/media/0123.png", None),
    ],
)
def test_a_path_below_a_page_leads_to_the_page(base: str, path: str, location: str | None) -> None:
    with TestClient(PagePath(INSIDE, base), follow_redirects=False) as client:
        answer = client.get(f"http://testserver{path}", headers=BROWSER)
        assert client.get(f"http://testserver{path}", headers={"accept": "*/*"}).status_code == 200
    assert answer.status_code == (307 if location else 200)
    assert answer.headers.get("location") == location


def test_at_the_cap_a_page_load_is_asked_to_wait_and_a_websocket_refused() -> None:
    cap = SessionCap(INSIDE, limit=1, retry_after=7)
    with TestClient(cap) as client:
        with client.websocket_connect(STREAM) as websocket:
            page = client.get("/attention?text=hello", headers=BROWSER)
            assert page.status_code == 503
            assert page.headers["retry-after"] == "7"
            assert "tries again every 7 seconds" in page.text
            assert client.get("/static/app.js").text == "inside"
            with pytest.raises(WebSocketDisconnect) as refusal, client.websocket_connect(STREAM):
                pytest.fail("a second visitor came in")
            assert refusal.value.code == 1013
            websocket.send_text("done")
        assert client.get("/attention", headers=BROWSER).text == "inside"


def test_only_the_stream_counts() -> None:
    cap = SessionCap(INSIDE, limit=1)
    with TestClient(cap) as client, client.websocket_connect("/another/socket") as websocket:
        assert cap.open == 0
        assert client.get("/", headers=BROWSER).text == "inside"
        websocket.send_text("done")


def test_the_count_falls_when_the_application_fails() -> None:
    cap = SessionCap(INSIDE, limit=1)

    def visit() -> None:
        with TestClient(cap) as client, client.websocket_connect(STREAM) as websocket:
            assert cap.open == 1
            websocket.send_text("fail")
            websocket.receive_text()

    with pytest.raises(RuntimeError, match="inside failed"):
        visit()
    assert cap.open == 0


def test_the_count_falls_when_the_server_cancels_a_visit() -> None:
    started = asyncio.Event()

    async def endless(scope: Scope, receive: Receive, send: Send) -> None:
        started.set()
        await asyncio.Event().wait()

    async def visit_and_cancel() -> tuple[int, int]:
        cap = SessionCap(endless, limit=3)
        visit = asyncio.create_task(cap({"type": "websocket", "path": STREAM}, AsyncMock(), AsyncMock()))
        await started.wait()
        during = cap.open
        visit.cancel()
        await asyncio.wait([visit])
        return during, cap.open

    assert asyncio.run(visit_and_cancel()) == (1, 0)


# --- settings


def test_settings_are_read_from_the_environment(tmp_path: Path) -> None:
    texts = {
        "max_parameters": "5_000_000",
        "max_sessions": "3",
        "device": "cuda:1",
        "threads": "2",
        "frame_ancestors": " 'self' https://*.school.example:8443 ",
        "busy_timeout": "1.5",
        "max_own_weights": "7",
        "weights_folder": str(tmp_path),
        "max_trainings": "4",
        "max_training_seconds": "60",
    }
    assert list(texts) == [field.name for field in fields(Settings)]
    environ = {f"PLAYGROUND_{name.upper()}": text for name, text in texts.items()}
    sources = "'self' https://*.school.example:8443"
    assert read_settings(environ) == Settings(5_000_000, 3, "cuda:1", 2, sources, 1.5, 7, tmp_path, 4, 60.0)


def test_defaults_stand_without_variables() -> None:
    assert read_settings({}) == Settings(threads=1)


@pytest.mark.parametrize(
    ("variable", "values"),
    [
        ("PLAYGROUND_MAX_PARAMETERS", ["", "many", "0", "-1", "1e9", "9" * 5000]),
        ("PLAYGROUND_MAX_SESSIONS", ["0", "3.5"]),
        ("PLAYGROUND_DEVICE", ["", "gpu", "cuda:", "cuda:one", "CPU"]),
        ("PLAYGROUND_THREADS", ["0", "auto"]),
        ("PLAYGROUND_FRAME_ANCESTORS", ["", "*; script-src *", "'self'\r\nset-cookie: a=b", "a, b", "schüle.example"]),
        ("PLAYGROUND_BUSY_TIMEOUT", ["0", "-3", "nan", "inf", "soon"]),
        ("PLAYGROUND_MAX_OWN_WEIGHTS", ["0", "1 GB"]),
        ("PLAYGROUND_MAX_TRAININGS", ["0", "two"]),
        ("PLAYGROUND_MAX_TRAINING_SECONDS", ["0", "-3", "inf"]),
        ("PLAYGROUND_WEIGHTS_FOLDER", ["", ".", "tests", "/there/is/no/such/folder", __file__]),
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


# --- the server's own hooks


def test_a_model_that_cannot_be_loaded_does_not_stop_the_server(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> None:
        raise OSError("no weights here")

    async def start() -> str:
        async with streamlit_app.lifespan(streamlit_app.app):
            return "serving"

    monkeypatch.setattr("playground.web.start.checkpoint_available", fail)
    assert asyncio.run(start()) == "serving"
    assert "no weights here" in caplog.text


def test_a_visitor_sees_one_sentence_instead_of_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr("streamlit.error", shown.append)
    assert streamlit_app.explain_script_error(RuntimeError("secret"))
    assert len(shown) == 1
    assert "secret" not in shown[0]
