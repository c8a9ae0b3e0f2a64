"""Streamlit's front end on the wire, beside what Streamlit alone answers."""

import asyncio
from pathlib import Path

import brotli
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient
from streamlit.web.server.starlette.starlette_static_routes import create_streamlit_static_assets_routes

from playground.web.server import front_end
from playground.web.server.front_end import FRONT_END, CompressedFiles, EarlyCharts, best_coding, chart_code
from tests.waiting import run_coroutine

PLAIN = Starlette(routes=create_streamlit_static_assets_routes(""))
"""Streamlit's own handler of its front end."""

GZIP = {"accept-encoding": "gzip, deflate"}
IDENTITY = {"accept-encoding": "identity"}


def smallest(suffix: str) -> str:
    """The path of the smallest file of a kind that is worth compressing."""
    files = (path for path in FRONT_END.glob(f"static/**/*{suffix}") if path.stat().st_size >= front_end.SMALLEST)
    return f"/{min(files, key=lambda path: path.stat().st_size).relative_to(FRONT_END).as_posix()}"


@pytest.mark.parametrize("suffix", [".js", ".css"])
@pytest.mark.parametrize(("accepted", "coding"), [("gzip, deflate, br", "br"), ("gzip", "gzip")])
def test_a_file_arrives_compressed_with_the_same_bytes_and_the_headers_that_still_hold(
    suffix: str, accepted: str, coding: str
) -> None:
    path, headers = smallest(suffix), {"accept-encoding": accepted}
    with TestClient(PLAIN) as client:
        plain = client.get(path, headers=headers)
    with TestClient(CompressedFiles(PLAIN)) as client:
        compressed, again = client.get(path, headers=headers), client.get(path, headers=headers)
        asked = client.get(path, headers={**headers, "if-none-match": f'"other", W/{compressed.headers["etag"]}'})
        uncompressed = client.get(path, headers=IDENTITY)
    assert compressed.content == again.content == uncompressed.content == plain.content
    assert compressed.headers["content-encoding"] == coding
    assert int(compressed.headers["content-length"]) < len(plain.content)
    assert compressed.headers["vary"] == uncompressed.headers["vary"] == "Accept-Encoding"
    for name in ("content-type", "cache-control"):
        assert compressed.headers[name] == uncompressed.headers[name] == plain.headers[name]
    assert compressed.headers["x-content-type-options"] == "nosniff"
    assert compressed.headers["etag"] == again.headers["etag"] != uncompressed.headers["etag"]
    assert (asked.status_code, asked.content, asked.headers["etag"]) == (304, b"", compressed.headers["etag"])


def test_ranges_other_methods_and_other_paths_are_streamlits_own() -> None:
    path = smallest(".js")
    with TestClient(CompressedFiles(PLAIN)) as client:
        part = client.get(path, headers={**GZIP, "range": "bytes=0-9"})
        assert (part.status_code, len(part.content)) == (206, 10)
        assert "content-encoding" not in part.headers
        assert client.head(path, headers=GZIP).headers["content-encoding"] == "gzip"
        assert client.post(path, headers=GZIP).status_code == 405
        for other in ("/", "/attention", "/static/js/absent.js", f"/static/../{path}", "/favicon.png"):
            assert "content-encoding" not in client.get(other, headers=GZIP).headers


def test_below_a_base_path_the_same_files_are_compressed() -> None:
    with TestClient(CompressedFiles(Starlette(routes=create_streamlit_static_assets_routes("play")), "play")) as client:
        assert client.get(f"/play{smallest('.css')}", headers=GZIP).headers["content-encoding"] == "gzip"


def test_a_class_that_comes_at_once_has_each_file_compressed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compressed: list[Path] = []

    def counted(path: Path, coding: str, kept: Path) -> front_end.CompressedFile:
        compressed.append(path)
        return front_end.CompressedFile(b"", {"ETag": '"1"'})

    async def answer(layer: CompressedFiles) -> None:
        async def receive() -> dict[str, str]:
            return {}

        async def send(message: object) -> None:
            return None

        scope = {"type": "http", "path": smallest(".js"), "method": "GET", "headers": [(b"accept-encoding", b"gzip")]}
        await asyncio.gather(*(layer(scope, receive, send) for _ in range(60)))

    monkeypatch.setattr(front_end, "compress", counted)
    run_coroutine(answer(CompressedFiles(PLAIN)))
    assert len(compressed) == 1


@pytest.mark.parametrize(
    ("header", "coding"),
    [
        ("gzip, deflate, br, zstd", "br"),
        ("br;q=1.0, GZIP;q=0.8", "br"),
        ("GZIP;q=0.8", "gzip"),
        ("br;q=0, *", "gzip"),
        ("*", "br"),
        ("", None),
        ("identity", None),
        ("gzip;q=0", None),
        ("gzip; q=0.000, x-br", None),
    ],
)
def test_compression_is_for_those_who_accept_it(header: str, coding: str | None) -> None:
    assert best_coding(header) == coding


def test_pages_ask_for_the_code_of_the_charts_and_it_is_there() -> None:
    (path,) = chart_code()
    assert (FRONT_END / path).stat().st_size > 1_000_000  # it holds Plotly itself
    with TestClient(EarlyCharts(PLAIN)) as client:
        for page in ("/", "/attention"):
            assert client.get(page).headers["link"] == f"<./{path}>; rel=modulepreload"
        assert "link" not in client.get(f"/{path}").headers
        assert client.get(f"/{path}").headers["content-type"].startswith("text/javascript")


def test_a_front_end_with_other_names_is_served_without_the_header(tmp_path: Path) -> None:
    with TestClient(EarlyCharts(PLAIN, tmp_path)) as client:
        assert "link" not in client.get("/").headers


@pytest.mark.parametrize("coding", ["br", "gzip"])
def test_a_compressed_body_is_the_same_on_every_copy_of_the_app(coding: str) -> None:
    path = FRONT_END / smallest(".js").removeprefix("/")
    assert front_end.compress(path, coding) == front_end.compress(path, coding)


def test_what_was_compressed_ahead_is_served_and_made_once(tmp_path: Path) -> None:
    folder, kept = tmp_path / "front_end", tmp_path / "kept"
    (folder / "static" / "js").mkdir(parents=True)
    words = b"const greeting = 'hello';\n" * 99
    for name, content in {"index.H1.js": words, "small.H2.js": b"1", "DeckGl.H3.js": bytes(600_000)}.items():
        (folder / "static" / "js" / name).write_bytes(content)
    front_end.main(folder, kept)
    (ahead,) = kept.iterdir()
    assert ahead.name == "index.H1.js.br"
    ahead.write_bytes(brotli.compress(b"as it was kept"))
    front_end.main(folder, kept)  # again: nothing to do
    with TestClient(CompressedFiles(PLAIN, folder=folder, kept=kept)) as client:
        assert client.get("/static/js/index.H1.js", headers={"accept-encoding": "br"}).content == b"as it was kept"
        assert client.get("/static/js/index.H1.js", headers={"accept-encoding": "gzip"}).content == words
