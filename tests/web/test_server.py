"""The layer around Streamlit's server, driven as a bare ASGI application, and the settings that it reads."""

import asyncio
import logging
import time
from contextlib import nullcontext
from dataclasses import fields
from unittest.mock import AsyncMock, Mock

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnected
from streamlit.proto.BackMsg_pb2 import BackendOperationRequest, BackMsg
from streamlit.runtime.backend_operation_handler import _LOGGER, DeferredFileHandler

import streamlit_app
from playground.errors import UnavailableError
from playground.web.server import RETRY_AFTER, Protection, Settings, Visitors, read_settings
from playground.web.session.services import Services
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


def test_every_answer_carries_the_security_headers() -> None:
    with TestClient(Protection(INSIDE, Visitors(1), "'self' https://school.example")) as client:
        headers = client.get("/attention").headers
    policy = dict(directive.split(" ", 1) for directive in headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'self'"
    assert policy["frame-ancestors"] == "'self' https://school.example"
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
        ("/play", "/play/overview?seed=3", "/play/?seed=3"),
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
    texts["hub_models"] = "a/b, google/c_2 a/b"
    assert texts.keys() < {field.name for field in fields(Settings)}
    assert read_settings({}) == Settings(threads=1)
    found = read_settings({f"PLAYGROUND_{name.upper()}": text for name, text in texts.items()})
    sources = "'self' https://*.school.example:8443"
    assert found == Settings(
        5_000_000, device="cuda:1", busy_timeout=1.5, frame_ancestors=sources, hub_models=("a/b", "google/c_2")
    )


@pytest.mark.parametrize(
    ("variable", "values"),
    [
        ("PLAYGROUND_MAX_PARAMETERS", ["", "many", "0", "-1", "1e9", "9" * 5000]),
        ("PLAYGROUND_FRAME_ANCESTORS", ["", "*; script-src *", "'self'\r\nset-cookie: a=b", "a, b", "schüle.example"]),
        ("PLAYGROUND_BUSY_TIMEOUT", ["0", "-3", "nan", "inf", "soon"]),
        ("PLAYGROUND_RAY_GPUS", ["-1", "inf", "nan"]),
        ("PLAYGROUND_HUB_MODELS", ["bert", "a/b, ../c", "a/b;c/d"]),
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


# --- what operators see


def amount(here: Services, name: str, **labels: str) -> float:
    """A sample's value; 0 before the first."""
    return here.meters.registry.get_sample_value(name, labels) or 0.0


def test_ready_means_that_models_are_loaded_and_a_seat_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    here, answers = Services(Settings(max_sessions=2)), []
    visitors = here.visitors
    monkeypatch.setattr(streamlit_app, "here", here)
    routes = [Route("/ready", streamlit_app.say_ready), Route("/operators/metrics", streamlit_app.write_metrics)]
    with TestClient(Starlette(routes=routes)) as client:
        for visitors.loaded, visitors.open in ((False, 0), (True, 2), (True, 1)):
            answer = client.get("/ready")
            assert answer.json() == {"ready": answer.status_code == 200}
            answers.append(answer.status_code)
        metrics = client.get("/operators/metrics").text
    assert answers == [503, 503, 200]
    assert "playground_visitors 1.0" in metrics


@pytest.mark.parametrize(
    ("error", "outcome", "n_lines"),
    [(None, "drawn", 0), (ValueError("what Ann typed"), "failed", 1), (KeyboardInterrupt(), "interrupted", 0)],
)
def test_every_run_is_counted_and_one_that_fails_or_is_slow_is_logged(
    error: BaseException | None, outcome: str, n_lines: int, caplog: pytest.LogCaptureFixture
) -> None:
    here = Services(Settings())
    here.meters.slow_seconds = 0.1
    with nullcontext() if error is None else pytest.raises(type(error)), here.meters.watch_rerun("norms"):
        if error is not None:
            raise error
    assert amount(here, "playground_run_seconds_count", page="norms", part="page", outcome=outcome) == 1
    with here.meters.watch_rerun("norms", "slow"):
        time.sleep(0.11)
    *lines, slow = [record.getMessage() for record in caplog.records]
    assert len(lines) == n_lines
    assert slow.startswith("run page=norms part=slow outcome=drawn seconds=0.1")
    assert "Ann" not in caplog.text


def test_a_file_that_is_refused_is_one_line_and_a_mistake_of_ours_keeps_its_traceback(
    caplog: pytest.LogCaptureFixture,
) -> None:
    media = Mock()
    handler, request = DeferredFileHandler(lambda: media), BackendOperationRequest()
    _LOGGER.addFilter(streamlit_app.hide_visitors)
    try:
        for error in (UnavailableError("Ann has left."), KeyError("x")):
            media.execute_deferred.side_effect = error
            assert run_coroutine(handler.handle(request, "one")).error_msg
    finally:
        _LOGGER.removeFilter(streamlit_app.hide_visitors)
    lines = [(record.levelname, bool(record.exc_info)) for record in caplog.records]
    assert lines == [("WARNING", False), ("ERROR", True)]
    assert caplog.records[0].getMessage() == "refusal kind=UnavailableError"
