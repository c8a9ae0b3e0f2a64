"""ASGI layers for Streamlit's front end: its files compressed once and kept, the charts' code asked for early.

`python -m playground.web.server.front_end` compresses the files as well as Brotli can. It takes about a minute, once
for each version of Streamlit; without it the server compresses quickly and less well.
"""

import gzip
import hashlib
import logging
import mimetypes
import os
import re
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import brotli
import streamlit
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

logger = logging.getLogger(__name__)

FRONT_END = Path(streamlit.__file__).parent / "static"
"""The folder that the installed Streamlit serves at the root."""

KEPT = Path(__file__).resolve().parents[3] / "build" / "front_end" / streamlit.__version__
"""Where `main` keeps what it has compressed as well as Brotli can, which takes long."""

COMPRESSIBLE = frozenset({".css", ".js"})
SMALLEST = 500
"""Bytes below which a file is not worth the compression: it fits into one packet as it is."""

ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "br": lambda content: brotli.compress(content, quality=5),
    "gzip": lambda content: gzip.compress(content, mtime=0),
}
"""The codings of an answer, the best first, as a first visitor can wait for them: 0.3 s for Plotly."""


@dataclass(frozen=True)
class CompressedFile:
    """A file's compressed body, with the headers of its answer."""

    body: bytes
    headers: dict[str, str]


class CompressedFiles:
    """Serves the front end's scripts and styles (`/static/…`) compressed, each made once, to browsers that accept it.

    Streamlit leaves them as they are: 8 MB for a first visit of a page with charts. The kept bodies take at most what
    the whole folder takes in both codings, 13 MB. Names are looked up in a list, so that no path of a request reaches
    the file system. Scripts and styles need no policy of their own: this layer stands before the one that adds it.
    """

    def __init__(self, app: ASGIApp, base: str = "", folder: Path = FRONT_END, kept: Path = KEPT) -> None:
        self.app = app
        self.kept_folder = kept
        root = f"/{base.strip('/')}".rstrip("/")
        self.files = {f"{root}/{path.relative_to(folder).as_posix()}": path for path in compressible(folder)}
        self.kept: dict[tuple[str, str], CompressedFile] = {}
        self.lock = threading.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer for a compressible file; pass on all else, and ranges, which count uncompressed bytes."""
        name = scope.get("path", "")
        if scope["type"] != "http" or name not in self.files or scope["method"] not in {"GET", "HEAD"}:
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        coding = best_coding(headers.get("accept-encoding", ""))
        if coding is None or "range" in headers:
            await self.app(scope, receive, _with_vary(send))
            return
        file = self.kept.get((name, coding))
        if file is None:
            file = await run_in_threadpool(self._compress, name, coding)
        if _names_etag(headers.get("if-none-match", ""), file.headers["ETag"]):
            kept_headers = {key: file.headers[key] for key in ("ETag", "Vary", "Cache-Control")}
            response = Response(status_code=304, headers=kept_headers)
        else:
            response = Response(file.body, headers=file.headers)
        await response(scope, receive, send)

    def _compress(self, name: str, coding: str) -> CompressedFile:
        """One file at a time, so that a class that comes at once does not have the same file compressed sixty times."""
        with self.lock:
            if (name, coding) not in self.kept:
                self.kept[name, coding] = compress(self.files[name], coding, self.kept_folder)
            return self.kept[name, coding]


class EarlyCharts:
    """Adds to every page a `Link` header that asks for Plotly's code, more than half of a first visit's bytes.

    The front end would ask for it when the first chart arrives, after all of its own code has run.
    """

    def __init__(self, app: ASGIApp, folder: Path = FRONT_END) -> None:
        self.app = app
        self.link = ", ".join(f"<./{path}>; rel=modulepreload" for path in chart_code(folder))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add the header to pages, which are the answers of type HTML; pass on everything else."""

        async def send_with_link(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 200:
                headers = MutableHeaders(scope=message)
                if headers.get("content-type", "").startswith("text/html"):
                    headers.append("Link", self.link)
            await send(message)

        early = scope["type"] == "http" and self.link
        await self.app(scope, receive, send_with_link if early else send)


def compressible(folder: Path = FRONT_END) -> list[Path]:
    """The files of a front end that are worth compressing."""
    files = (path for path in sorted((folder / "static").rglob("*")) if path.suffix in COMPRESSIBLE)
    return [path for path in files if path.stat().st_size >= SMALLEST]


def compress(path: Path, coding: str, kept: Path = KEPT) -> CompressedFile:
    """A file of the front end in a coding, with the headers of Streamlit's own answer where they still hold."""
    content = path.read_bytes()
    ahead = kept / f"{path.name}.{coding}"  # names hold a hash of the content
    body = ahead.read_bytes() if ahead.is_file() else ENCODERS[coding](content)
    headers = {
        "Content-Type": f"{mimetypes.guess_type(path.name)[0]}; charset=utf-8",
        "Content-Encoding": coding,
        "Vary": "Accept-Encoding",
        "ETag": f'"{hashlib.sha256(body).hexdigest()[:32]}"',
        # The name changes with the content: what has been read once never does.
        "Cache-Control": "public, immutable, max-age=31536000",
        "X-Content-Type-Options": "nosniff",
    }
    return CompressedFile(body, headers)


def chart_code(folder: Path = FRONT_END) -> list[str]:
    """Paths of the module that draws Plotly's charts, below `folder`; none where a new Streamlit has renamed it."""
    return [path.relative_to(folder).as_posix() for path in sorted(folder.glob("static/js/PlotlyChart.*.js"))]


def best_coding(accept_encoding: str) -> str | None:
    """The coding for a request's `Accept-Encoding` (RFC 9110, section 12.5.3), by name or by `*`; None: as it is."""
    allowed: dict[str, bool] = {}
    for part in accept_encoding.lower().split(","):
        coding, _, parameter = part.partition(";")
        allowed[coding.strip()] = not re.fullmatch(r"\s*q\s*=\s*0(\.0*)?\s*", parameter)
    return next((coding for coding in ENCODERS if allowed.get(coding, allowed.get("*", False))), None)


def _names_etag(if_none_match: str, etag: str) -> bool:
    """Whether `If-None-Match` names the tag; weakly, as this header compares (RFC 9110, section 13.1.2)."""
    return etag in {part.strip().removeprefix("W/") for part in if_none_match.split(",")} or if_none_match == "*"


def _with_vary(send: Send) -> Send:
    """A cache in between must know that the answer depends on what was accepted."""

    async def send_with_vary(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).add_vary_header("Accept-Encoding")
        await send(message)

    return send_with_vary


LARGEST = 500_000
"""Bytes: what is larger belongs to elements that no page here has, Plotly's charts and the messages' format apart."""

NEEDED = ("protobuf.",)
"""How the large files begin that every page needs."""


def main(folder: Path = FRONT_END, kept: Path = KEPT) -> int:
    """Write each file's compressed form to `kept` where it is not there yet; returns the exit status.

    Where the disk is full, one line says so, and the server compresses what is missing itself.
    """
    charts = {folder / path for path in chart_code(folder)}
    files = [
        path
        for path in compressible(folder)
        if path.stat().st_size <= LARGEST or path in charts or path.name.startswith(NEEDED)
    ]
    try:
        kept.mkdir(parents=True, exist_ok=True)
        with ThreadPoolExecutor(os.cpu_count()) as pool:  # Brotli lets other threads run meanwhile
            list(pool.map(lambda path: keep(path, kept), sorted(files, key=lambda path: -path.stat().st_size)))
    except OSError as error:
        logger.error("The front end is not compressed ahead, for %s can't be written: %s", kept, error.strerror)
        return 1
    return 0


def keep(path: Path, kept: Path) -> None:
    """Write one file; under its name only when it is whole, so that nobody reads a part."""
    compressed = kept / f"{path.name}.br"
    if not compressed.is_file():
        part = compressed.with_suffix(f".{os.getpid()}.part")
        try:
            part.write_bytes(brotli.compress(path.read_bytes(), quality=11))
            part.replace(compressed)
        finally:
            part.unlink(missing_ok=True)


if __name__ == "__main__":
    sys.exit(main())
