"""ASGI layers around Streamlit's server: origins and hosts, security headers, addresses of pages."""

import base64
import hashlib
import re
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import streamlit
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import config
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

from playground.limits import LINK_FIELDS, MAX_ADDRESS
from playground.pages import MOVED

PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>{head}</head>
<body><p>{sentence}</p></body>
</html>
"""


def is_stream(scope: Scope) -> bool:
    """Return whether a connection is the websocket over which a page talks to Streamlit."""
    return bool(scope["type"] == "websocket" and scope["path"].endswith("/_stcore/stream"))


def is_page_load(scope: Scope) -> bool:
    """Return whether a browser asks for a page, rather than for a part of one."""
    return scope["type"] == "http" and "text/html" in Headers(scope=scope).get("accept", "")


async def refuse_request(sentence: str, status: int, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request, or a websocket's handshake, with a status and one sentence."""
    if scope["type"] == "websocket":
        await receive()  # the connect message, which ASGI has us read before answering
    await PlainTextResponse(sentence, status_code=status)(scope, receive, send)


PROBES = ("/_stcore/health", "/_stcore/metrics", "/ready", "/operators/metrics")
"""Paths that a balancer or a probe asks for by the machine's address instead of the site's name."""

_READING_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})

_DEFAULT_PORTS = {"http": 80, "https": 443}


class RefuseForeignOrigins:
    """Refuse websockets and uploads from pages of other sites, and names not in `server.allowedHosts`.

    Streamlit's own check of an origin asks an outside service for this machine's address, which holds up every visitor;
    so the websockets that pass here have no origin. A request without one is from no browser's page.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 403 with a sentence to what is foreign; pass on the rest."""
        if scope["type"] not in {"http", "websocket"}:
            await self.app(scope, receive, send)
            return
        headers, is_socket = Headers(scope=scope), scope["type"] == "websocket"
        origin, host = headers.get("origin"), headers.get("host")
        changes = is_socket or scope["method"] not in _READING_METHODS
        if not is_host_allowed(host) and not scope["path"].rstrip("/").endswith(PROBES):
            await refuse_request("The playground is not served under this name.", 403, scope, receive, send)
        elif changes and origin is not None and not is_own_origin(origin, host or ""):
            sentence = "The playground takes no requests from pages of other sites."
            await refuse_request(sentence, 403, scope, receive, send)
        else:
            if is_socket:
                scope = {**scope, "headers": [header for header in scope["headers"] if header[0] != b"origin"]}
            await self.app(scope, receive, send)


def is_own_origin(origin: str, host: str) -> bool:
    """Return whether an `Origin` has this `Host` and port, or Streamlit's settings allow it."""
    if not config.get_option("server.enableCORS") or origin in config.get_option("server.corsAllowedOrigins"):
        return True
    try:
        page, server = urlsplit(origin), urlsplit(f"//{host}")
        usual = _DEFAULT_PORTS[page.scheme]
        return bool(page.hostname) and (page.hostname, page.port or usual) == (server.hostname, server.port or usual)
    except (KeyError, ValueError):  # another scheme, "null", or no port
        return False


class SecurityHeaders:
    """Add the security headers to every HTTP response, a refused handshake's included."""

    def __init__(self, app: ASGIApp, frame_ancestors: str = "'self'") -> None:
        """Let the sites in `frame_ancestors` show the page in a frame, as in the policy's directive."""
        self.app = app
        self.headers = {
            "Content-Security-Policy": content_security_policy(frame_ancestors),
            "X-Content-Type-Options": "nosniff",
            # A link holds the student's text: it must not travel on to the sites a page links to.
            "Referrer-Policy": "no-referrer",
            "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add the headers to the start of a response; pass on everything else."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                MutableHeaders(scope=message).update(self.headers)
            await send(message)

        await self.app(scope, receive, send_with_headers)


def content_security_policy(frame_ancestors: str) -> str:
    """Return the policy that Streamlit's front end, Plotly and inline components need: no `eval`, no other host.

    `blob:` scripts are inline components; Plotly and the front end draw with inline styles.
    """
    page = (Path(streamlit.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
    hashes = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    return (
        f"default-src 'self'; script-src 'self' blob: {hashes}; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; font-src 'self' data:; object-src 'none'; base-uri 'self'; form-action 'self'; "
        f"frame-ancestors {frame_ancestors}"
    )


class PageAddress:
    """Redirect the path of a page that has moved (`pages.MOVED`), below `server.baseUrlPath`; refuse a link too long.

    Streamlit would ignore its query without a word.
    """

    def __init__(self, app: ASGIApp, base: str = "") -> None:
        self.app, self.base = app, f"/{base.strip('/')}".rstrip("/")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 307 or 414 to a page load, or pass it on."""
        if not is_page_load(scope):
            await self.app(scope, receive, send)
            return
        query = scope["query_string"].decode("latin-1")
        if len(scope["path"]) + len(query) > MAX_ADDRESS or query.count("&") >= LINK_FIELDS:
            sentence = (
                f"This link is too long: the playground takes {MAX_ADDRESS:,} characters and {LINK_FIELDS:,} "
                "parameters. Whoever made it can save it as a file instead, with the button “Copy link to this view”."
            )
            page = PAGE.format(title="Link too long", head="", sentence=sentence)
            await HTMLResponse(page, 414)(scope, receive, send)
            return
        name = scope["path"].removeprefix(self.base).strip("/")
        if name in MOVED:
            page, key, value = MOVED[name]
            moved = "&".join(filter(None, (urlencode({key: value}), query)))
            await RedirectResponse(f"{self.base}/{page}?{moved}")(scope, receive, send)
        else:
            await self.app(scope, receive, send)
