"""The route of what browsers draw pictures with."""

import hashlib
from functools import cache
from pathlib import Path

import plotly
import streamlit
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route

_SHIPPED = Path(__file__).with_name("picture_libraries")
LIBRARIES = {path.name: path for path in sorted(_SHIPPED.iterdir()) if path.suffix in (".js", ".ttf")} | {
    "plotly.min.js": Path(plotly.__file__).parent / "package_data" / "plotly.min.js"
}
"""What a browser needs to draw pictures, by name: Plotly of the installed package, and what lies here.

jspdf 4.2.1 and svg2pdf.js 2.8.1 write PDFs; DejaVuSans.ttf is of dejavu-fonts-ttf 2.37.3. All three are unchanged files
of these npm packages, but for the last line of scripts, which named a file that is not here.
"""


def libraries_path() -> str:
    """Return the path of the folder in which browsers find the files; it changes with their contents."""
    base = streamlit.get_option("server.baseUrlPath").strip("/")
    return f"{base and '/'}{base}/picture/{_libraries_digest()}"


def picture_routes() -> list[Route]:
    """Return the route of the files, which nginx compresses and keeps."""
    return [Route(f"{libraries_path()}/{{name}}", _send_library)]


async def _send_library(request: Request) -> Response:
    path = LIBRARIES.get(request.path_params["name"])
    if path is None:
        return PlainTextResponse("Not Found", status_code=404)
    return FileResponse(path, headers={"Cache-Control": "public, immutable, max-age=31536000"})


@cache
def _libraries_digest() -> str:
    digest = hashlib.sha256(plotly.__version__.encode())
    for path in LIBRARIES.values():
        if path.parent == _SHIPPED:
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
