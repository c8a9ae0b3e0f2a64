"""ASGI layers around Streamlit's server: security headers, private metrics, one path a page, a cap on visitors."""

import base64
import hashlib
import ipaddress
import re
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import streamlit
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

STREAM_PATH = "/_stcore/stream"
PRIVATE_PATHS = ("/_stcore/metrics/", "/operators/")
"""Streamlit's metrics and the playground's; neither needs a login."""

_FULL_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="refresh" content="{seconds}">
<title>Playground full</title>
</head>
<body><p>The playground is full right now. This page tries again every {seconds} seconds;
your link keeps everything you set.</p></body>
</html>
"""


class SecurityHeaders:
    """Adds to every HTTP response the headers that keep the page to its own scripts, data and frames.

    `frame_ancestors` lists who may show the page in a frame, as the policy's directive does.
    """

    def __init__(self, app: ASGIApp, frame_ancestors: str = "'self'") -> None:
        self.app = app
        self.headers = {
            "Content-Security-Policy": content_security_policy(frame_ancestors),
            "X-Content-Type-Options": "nosniff",
            # A link holds the student's text: it must not travel on to the sites a page links to.
            "Referrer-Policy": "no-referrer",
            "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
        }
        # The older header knows only these two cases; browsers that read the policy above ignore it.
        frame_options = {"'self'": "SAMEORIGIN", "'none'": "DENY"}.get(frame_ancestors)
        if frame_options:
            self.headers["X-Frame-Options"] = frame_options

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add the headers to the start of an HTTP response; pass on everything else."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self.headers)
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


class LocalMetrics:
    """Answers 404 to whoever asks for metrics, which need no login, from another machine."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 404 on the metrics' paths to clients that are not on a loopback address; pass on the rest."""
        path = f"{scope.get('path', '').rstrip('/')}/"
        if scope["type"] == "http" and any(private in path for private in PRIVATE_PATHS) and not _is_local(scope):
            await PlainTextResponse("Not Found", status_code=404)(scope, receive, send)
        else:
            await self.app(scope, receive, send)


class PagePath:
    """Sends a page load below a page, such as `/attention/extra/path`, to the page: `/attention`, with its query.

    Streamlit would answer with its front end, which looks for its own scripts beside that path and stays white.
    `base` is the path below which the whole app lies (Streamlit's `server.baseUrlPath`).
    """

    def __init__(self, app: ASGIApp, base: str = "") -> None:
        self.app = app
        self.base = f"/{base.strip('/')}".rstrip("/")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Redirect page loads whose path has more than one part; pass on the rest."""
        page, *below = scope.get("path", "").removeprefix(self.base).strip("/").split("/")
        if (
            not below or page in ("_stcore", "operators") or "." in below[-1] or not _is_page_load(scope)
        ):  # a dot: it is a file
            await self.app(scope, receive, send)
            return
        query = scope["query_string"].decode("latin-1")
        location = f"{self.base}/{quote(page)}{f'?{query}' if query else ''}"
        await RedirectResponse(location)(scope, receive, send)


@dataclass
class Visitors:
    """How many pages are open, and how many may be."""

    limit: int
    open: int = 0
    last_left: float | None = None
    """When the last of them left, by `time.monotonic`; None while nobody has."""

    @property
    def is_full(self) -> bool:
        """Whether nobody else may come in."""
        return self.open >= self.limit


class SessionCap:
    """Lets in as many `visitors` as may be: each holds one websocket, and its state, for as long as the page is open.

    At the cap a page load gets a short page with status 503 that tries again by itself after `retry_after` seconds, and
    a new websocket is refused with close code 1013 (try again later, RFC 6455's registry).
    """

    def __init__(self, app: ASGIApp, visitors: Visitors, retry_after: int = 10) -> None:
        self.app = app
        self.visitors = visitors
        self.retry_after = retry_after

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count websockets on Streamlit's stream; pass on everything but new visitors at the cap."""
        if is_stream(scope):
            await self._stream(scope, receive, send)
        elif self.visitors.is_full and _is_page_load(scope):
            headers = {"Retry-After": str(self.retry_after), "Cache-Control": "no-store"}
            page = _FULL_PAGE.format(seconds=self.retry_after)
            await HTMLResponse(page, status_code=503, headers=headers)(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.visitors.is_full:
            await receive()  # the connect message, which ASGI has us read before answering
            await send({"type": "websocket.close", "code": 1013, "reason": "The playground is full."})
            return
        self.visitors.open += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self.visitors.open -= 1
            self.visitors.last_left = time.monotonic()


def content_security_policy(frame_ancestors: str) -> str:
    """The policy under which Streamlit's own front end, Plotly's charts and inline components work, and no more.

    `blob:` scripts are inline components (`st.components.v2`), which the front end imports from memory;
    inline styles are how Plotly and the front end's CSS-in-JS draw. No `eval`, no other host.
    """
    directives = {
        "default-src": "'self'",
        "script-src": f"'self' blob: {_hashes_of_inline_scripts()}",
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "object-src": "'none'",
        "base-uri": "'self'",
        "form-action": "'self'",
        "frame-ancestors": frame_ancestors,
    }
    return "; ".join(f"{name} {sources}" for name, sources in directives.items())


def _hashes_of_inline_scripts() -> str:
    """Sources that allow exactly the inline scripts of Streamlit's page, read from the installed version."""
    page = (Path(streamlit.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
    return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)


def _is_local(scope: Scope) -> bool:
    host = (scope.get("client") or ("",))[0]
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)  # a socket for both families reports ::ffff:127.0.0.1
    return (mapped or address).is_loopback


def is_stream(scope: Scope) -> bool:
    """Whether a connection is the websocket over which a page talks to Streamlit."""
    return bool(scope["type"] == "websocket" and scope["path"].endswith(STREAM_PATH))


def _is_page_load(scope: Scope) -> bool:
    return scope["type"] == "http" and "text/html" in Headers(scope=scope).get("accept", "")
