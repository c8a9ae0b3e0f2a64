"""What an operator sets, what the server says of a visitor who left, and the files that draw pictures."""

import hashlib
import logging
import re

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocketDisconnected

from playground.runs.budget import MAX_KEPT
from playground.web.server.messages import FilterMessages
from playground.web.server.middleware import STREAM_PATH
from playground.web.server.pictures import LIBRARIES, libraries_path, picture_routes
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


SHA_256 = {
    "jspdf.umd.min.js": "0537038a63476c79f4377186f37108ca20da505157576e8ad44959dc1176a9d4",
    "svg2pdf.umd.min.js": "d68c8d950bc2ea4549357cb6b814e79f527236a07c7d07c7ae4ebe294f8e6382",
    "DejaVuSans.ttf": "7da195a74c55bef988d0d48f9508bd5d849425c1770dba5d7bfc6ce9ed848954",
}


def test_the_files_are_those_of_the_named_versions() -> None:
    assert set(LIBRARIES) == {*SHA_256, "plotly.min.js"}
    assert {name: hashlib.sha256(LIBRARIES[name].read_bytes()).hexdigest() for name in SHA_256} == SHA_256


@pytest.mark.parametrize("name", SHA_256)
def test_a_file_arrives_whole_and_is_kept(name: str) -> None:
    client = TestClient(Starlette(routes=picture_routes()))
    answer = client.get(f"{libraries_path()}/{name}")
    assert answer.content == LIBRARIES[name].read_bytes()
    assert "immutable" in answer.headers["cache-control"]
    assert answer.headers["content-type"].startswith(("text/javascript", "font/ttf"))


def test_nothing_else_is_given() -> None:
    client = TestClient(Starlette(routes=picture_routes()))
    assert re.fullmatch("/picture/[0-9a-f]{16}", libraries_path())
    for name in ("__init__.py", "..%2Fpictures.py", "LICENSES.txt", "no.js"):
        assert client.get(f"{libraries_path()}/{name}").status_code == 404
