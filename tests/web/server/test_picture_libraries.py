"""What browsers need to draw pictures: the very files of the packages that they are from, compressed and kept."""

import hashlib
import re

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from playground.web.server.picture_libraries import FILES, libraries_path, picture_routes

SHA_256 = {
    "jspdf.umd.min.js": "0537038a63476c79f4377186f37108ca20da505157576e8ad44959dc1176a9d4",
    "svg2pdf.umd.min.js": "d68c8d950bc2ea4549357cb6b814e79f527236a07c7d07c7ae4ebe294f8e6382",
    "DejaVuSans.ttf": "7da195a74c55bef988d0d48f9508bd5d849425c1770dba5d7bfc6ce9ed848954",
}


def test_the_files_are_those_of_the_named_versions() -> None:
    assert set(FILES) == {*SHA_256, "plotly.min.js"}
    assert {name: hashlib.sha256(FILES[name].read_bytes()).hexdigest() for name in SHA_256} == SHA_256


@pytest.mark.parametrize("name", SHA_256)
@pytest.mark.parametrize("coding", ["br", "gzip", "identity"])
def test_a_file_arrives_whole_and_is_kept(name: str, coding: str) -> None:
    client = TestClient(Starlette(routes=picture_routes()))
    answer = client.get(f"{libraries_path()}/{name}", headers={"Accept-Encoding": coding})
    assert answer.content == FILES[name].read_bytes()
    assert answer.headers.get("content-encoding", "identity") == coding
    assert "immutable" in answer.headers["cache-control"]
    assert answer.headers["content-type"].startswith(("text/javascript", "font/ttf"))


def test_nothing_else_is_given() -> None:
    client = TestClient(Starlette(routes=picture_routes()))
    assert re.fullmatch("/picture/[0-9a-f]{16}", libraries_path())
    for name in ("__init__.py", "..%2Ffront_end.py", "LICENSES.txt", "no.js"):
        assert client.get(f"{libraries_path()}/{name}").status_code == 404
