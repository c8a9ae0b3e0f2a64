"""What a browser needs to draw pictures, from this server: Plotly of the installed package, and what lies here.

jspdf 4.2.1 and svg2pdf.js 2.8.1 write PDFs; DejaVuSans.ttf is of dejavu-fonts-ttf 2.37.3. All three are unchanged files
of these npm packages, but for the last line of scripts, which named a file that is not here.
"""

import hashlib
import mimetypes
from functools import cache
from pathlib import Path

import plotly
import streamlit as st
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from playground.web.server.front_end import ENCODERS, best_coding

FILES = {path.name: path for path in sorted(Path(__file__).parent.iterdir()) if path.suffix in (".js", ".ttf")} | {
    "plotly.min.js": Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
}
"""The files by name."""


def libraries_path() -> str:
    """The path of the folder in which browsers find the files; it changes with their contents."""
    base = st.get_option("server.baseUrlPath").strip("/")
    return f"{base and '/'}{base}/picture/{_digest()}"


def picture_routes() -> list[Route]:
    """The route of the files."""
    return [Route(f"{libraries_path()}/{{name}}", _answer)]


async def _answer(request: Request) -> Response:
    name, coding = request.path_params["name"], best_coding(request.headers.get("accept-encoding", ""))
    if name not in FILES:
        return PlainTextResponse("Not Found", status_code=404)
    headers = {"Cache-Control": "public, immutable, max-age=31536000", "Vary": "Accept-Encoding"}
    if coding is not None:
        headers["Content-Encoding"] = coding
    media_type = "font/ttf" if name.endswith(".ttf") else mimetypes.guess_type(name)[0]
    return Response(await run_in_threadpool(_read, name, coding), headers=headers, media_type=media_type)


@cache
def _read(name: str, coding: str | None) -> bytes:
    content = FILES[name].read_bytes()
    return content if coding is None else ENCODERS[coding](content)


@cache
def _digest() -> str:
    digest = hashlib.sha256(plotly.__version__.encode())
    for path in FILES.values():
        if path.parent == Path(__file__).parent:
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
