"""The layers around Streamlit's server, driven as bare ASGI applications, and the settings that they read."""

import logging
from dataclasses import fields
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.websockets import WebSocket

import streamlit_app
from playground.web.server.middleware import LocalMetrics, PagePath, SecurityHeaders
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


# --- security headers


@pytest.mark.parametrize(
    ("frame_ancestors", "frame_options"),
    [("'self'", "SAMEORIGIN"), ("'none'", "DENY"), ("'self' https://school.example", None)],
)
def test_every_answer_carries_the_security_headers_but_a_websocket_none(
    frame_ancestors: str, frame_options: str | None
) -> None:
    with TestClient(SecurityHeaders(INSIDE, frame_ancestors)) as client:
        headers = client.get("/attention").headers
        with client.websocket_connect(STREAM) as websocket:
            assert websocket.extra_headers == []
            websocket.send_text("done")
    policy = dict(directive.split(" ", 1) for directive in headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'self'"
    assert policy["frame-ancestors"] == frame_ancestors
    assert "unsafe" not in policy["script-src"]
    assert "'sha256-" in policy["script-src"]
    assert headers.get("x-frame-options") == frame_options
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "camera=()" in headers["permissions-policy"]


# --- metrics


@pytest.mark.parametrize(
    ("host", "status"),
    [("127.0.0.1", 200), ("::1", 200), ("::ffff:127.0.0.1", 200), ("192.0.2.7", 404), ("2001:db8::7", 404), ("", 404)],
)
def test_metrics_are_for_this_machine_only(host: str, status: int) -> None:
    with TestClient(LocalMetrics(INSIDE), client=(host, 50000)) as client:
        for path in ("/_stcore/metrics", "/_stcore/metrics/", "/base/_stcore/metrics", "/operators/metrics/x"):
            assert client.get(path).status_code == status
        assert client.get("/_stcore/health").status_code == 200


# --- one path a page


@pytest.mark.parametrize(
    ("base", "path", "location"),
    [
        ("", "/attention/extra/path?seed=3&text=a%26b", "/attention?seed=3&text=a%26b"),
        ("/play", "/play/attention/extra", "/play/attention"),
        ("/play", "/play/ladder", "/play/parts?parts_view=from+2017+to+today"),
        ("", "/ladder?seed=3", "/parts?parts_view=from+2017+to+today&seed=3"),
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


@pytest.mark.parametrize("path", ["atention", "attention%3Cb%3E", "/elsewhere.example/x", "%5Celsewhere.example/x"])
@pytest.mark.parametrize("base", ["", "/play"])
def test_where_there_is_no_page_an_answer_says_so_and_leads_to_the_front_page(base: str, path: str) -> None:
    with TestClient(PagePath(INSIDE, base), follow_redirects=False) as client:
        answer = client.get(f"http://testserver{base}/{path}", headers=BROWSER)
        assert client.get(f"http://testserver{base}/{path}", headers={"accept": "*/*"}).status_code == 200
    assert answer.status_code == 404
    assert f'href="{base}/"' in answer.text
    assert "<b>" not in answer.text


# --- settings


def test_settings_are_read_from_the_environment(tmp_path: Path) -> None:
    texts = {
        "max_parameters": "5_000_000",
        "max_sessions": "3",
        "max_pages_per_browser": "2",
        "address_share": "0.25",
        "idle_after": "1800",
        "device": "cuda:1",
        "threads": "2",
        "frame_ancestors": " 'self' https://*.school.example:8443 ",
        "busy_timeout": "1.5",
        "slow_seconds": "2.5",
        "max_own_weights": "7",
        "max_cached_results": "8",
        "max_cached_weights": "9",
        "release_after": "90",
        "weights_folder": str(tmp_path),
        "max_trainings": "4",
        "max_training_seconds": "60",
        "max_shared_runs": "5",
        "max_shared_bytes": "6",
        "ray": "head.school.example:6379",
        "ray_cpus": "0.5",
        "ray_gpus": "0.25",
    }
    assert list(texts) == [field.name for field in fields(Settings)]
    assert read_settings({}) == Settings(threads=1)
    environ = {f"PLAYGROUND_{name.upper()}": text for name, text in texts.items()}
    sources = "'self' https://*.school.example:8443"
    asked = Settings(
        5_000_000,
        3,
        2,
        0.25,
        1800.0,
        "cuda:1",
        2,
        sources,
        1.5,
        2.5,
        7,
        8,
        9,
        90.0,
        tmp_path,
        4,
        60.0,
        5,
        6,
        "head.school.example:6379",
        0.5,
        0.25,
    )
    assert read_settings(environ) == asked
    assert "A" * 43 not in repr(asked)


@pytest.mark.parametrize(
    ("variable", "values"),
    [
        ("PLAYGROUND_MAX_PARAMETERS", ["", "many", "0", "-1", "1e9", "9" * 5000]),
        ("PLAYGROUND_MAX_SESSIONS", ["0", "3.5"]),
        ("PLAYGROUND_ADDRESS_SHARE", ["0", "1.5", "nan", "half"]),
        ("PLAYGROUND_DEVICE", ["", "gpu", "cuda:", "cuda:one", "CPU"]),
        ("PLAYGROUND_THREADS", ["0", "auto"]),
        ("PLAYGROUND_FRAME_ANCESTORS", ["", "*; script-src *", "'self'\r\nset-cookie: a=b", "a, b", "schüle.example"]),
        ("PLAYGROUND_BUSY_TIMEOUT", ["0", "-3", "nan", "inf", "soon"]),
        ("PLAYGROUND_MAX_OWN_WEIGHTS", ["0", "1 GB"]),
        ("PLAYGROUND_MAX_TRAININGS", ["0", "two"]),
        ("PLAYGROUND_RAY", ["", "yes", "host", "host:port", "ray://host:10001", "a b:1"]),
        ("PLAYGROUND_RAY_CPUS", ["0", "-1", "all", "nan"]),
        ("PLAYGROUND_RAY_GPUS", ["-1", "inf", "nan"]),
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
        assert "secret" not in caplog.text


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
    assert run_coroutine(start()) == "serving"
    assert "no weights here" in caplog.text


def test_a_visitor_sees_one_sentence_instead_of_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr("streamlit.error", shown.append)
    assert streamlit_app.explain_script_error(RuntimeError("secret"))
    assert len(shown) == 1
    assert "secret" not in shown[0]
