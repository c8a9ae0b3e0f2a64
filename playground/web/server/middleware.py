"""ASGI layers around Streamlit's server: origins, security headers, private metrics, one path a page."""

import base64
import hashlib
import ipaddress
import logging
import re
import time
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import streamlit
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import config
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

from playground.limits import LINK_FIELDS, MAX_ADDRESS
from playground.pages import MOVED, PAGES
from playground.text.wording import quote_text

logger = logging.getLogger(__name__)

STREAM_PATH = "/_stcore/stream"


def is_stream(scope: Scope) -> bool:
    """Whether a connection is the websocket over which a page talks to Streamlit."""
    return bool(scope["type"] == "websocket" and scope["path"].endswith(STREAM_PATH))


def is_page_load(scope: Scope) -> bool:
    """Whether a browser asks for a page, rather than for a part of one."""
    return scope["type"] == "http" and "text/html" in Headers(scope=scope).get("accept", "")


async def refuse_request(sentence: str, status: int, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request, or a websocket's handshake, with a status and one sentence."""
    if scope["type"] == "websocket":
        await receive()  # the connect message, which ASGI has us read before answering
        if "websocket.http.response" not in scope.get("extensions", {}):
            await send({"type": "websocket.close", "code": 1008, "reason": sentence})
            return
    await PlainTextResponse(sentence, status_code=status)(scope, receive, send)


class ClosableStream:
    """A websocket that a layer may close; the application is then told that it has ended."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self.from_browser = receive
        self.to_browser = send
        self.is_closed = False

    async def receive(self) -> Message:
        """Return the browser's next event."""
        return await self.from_browser()

    async def send(self, message: Message) -> None:
        """Send the application's message, unless the connection was closed here."""
        if not self.is_closed:
            await self.to_browser(message)

    async def close(self, code: int, reason: str) -> Message:
        """Close the connection with a code of RFC 6455; return the event for the application."""
        self.is_closed = True
        await self.to_browser({"type": "websocket.close", "code": code, "reason": reason})
        return {"type": "websocket.disconnect", "code": code}


PROBES = ("/_stcore/health", "/_stcore/metrics", "/ready", "/operators/metrics")
"""Paths that a balancer or a probe asks for by the machine's address instead of the site's name."""

READING_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})

_DEFAULT_PORTS = {"http": 80, "https": 443}

_QUIET = 60.0
"""Seconds between two lines in the log on refusals."""


class RefuseForeignOrigins:
    """Refuses websockets and uploads from pages of other sites, and requests by names not in `server.allowedHosts`.

    Streamlit's own check of an origin asks an outside service for this machine's address, which holds up every visitor;
    what this layer lets through never gets that far. A request without an `Origin` is from no browser's page.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.next_line = 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 403 with a sentence to what is foreign; pass on the rest."""
        if scope["type"] not in {"http", "websocket"}:
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        origin, host = headers.get("origin"), headers.get("host")
        if not is_host_allowed(host) and not scope["path"].rstrip("/").endswith(PROBES):
            await self._refuse("The playground is not served under this name.", scope, receive, send)
        elif _changes_something(scope) and origin is not None and not is_own_origin(origin, host or ""):
            await self._refuse("The playground takes no requests from pages of other sites.", scope, receive, send)
        else:
            if scope["type"] == "websocket":  # Streamlit checks no origin where there is none
                scope = {**scope, "headers": [header for header in scope["headers"] if header[0] != b"origin"]}
            await self.app(scope, receive, send)

    async def _refuse(self, sentence: str, scope: Scope, receive: Receive, send: Send) -> None:
        if time.monotonic() >= self.next_line:
            self.next_line = time.monotonic() + _QUIET
            headers = Headers(scope=scope)
            logger.warning(
                "refused origin=%.200r host=%.200r: %s", headers.get("origin"), headers.get("host"), sentence
            )
        await refuse_request(sentence, 403, scope, receive, send)


def is_own_origin(origin: str, host: str) -> bool:
    """Whether an `Origin` has this `Host` and port, or is in `server.corsAllowedOrigins` (any, without enableCORS)."""
    if not config.get_option("server.enableCORS"):
        return True
    if origin in {allowed.strip() for allowed in config.get_option("server.corsAllowedOrigins")}:
        return True
    try:
        page, server = urlsplit(origin), urlsplit(f"//{host}")
        usual = _DEFAULT_PORTS[page.scheme]
        return bool(page.hostname) and (page.hostname, page.port or usual) == (server.hostname, server.port or usual)
    except (KeyError, ValueError):  # another scheme, "null", or no port that there is
        return False


def _changes_something(scope: Scope) -> bool:
    return bool(scope["type"] == "websocket" or scope["method"] not in READING_METHODS)


PRIVATE_PATHS = ("/_stcore/metrics/", "/operators/")
"""Streamlit's metrics and the playground's; neither needs a login."""


class SecurityHeaders:
    """Adds the security headers to every HTTP response, a refused handshake's included.

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
        """Add the headers to the start of a response; pass on everything else."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                MutableHeaders(scope=message).update(self.headers)
            await send(message)

        await self.app(scope, receive, send_with_headers)


class LocalMetrics:
    """Answers 404 to requests for metrics, which need no login, from other machines."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 404 to clients that are not on a loopback address; pass on the rest."""
        path = f"{scope.get('path', '').rstrip('/')}/"
        if scope["type"] == "http" and any(private in path for private in PRIVATE_PATHS) and not _is_local(scope):
            await PlainTextResponse("Not Found", status_code=404)(scope, receive, send)
        else:
            await self.app(scope, receive, send)


_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
</head>
<body><p>{sentence}</p></body>
</html>
"""

_NO_PAGE = 'The playground has no page {page}. <a href="{home}">Open its front page</a>.'


class PagePath:
    """Redirects `/attention/extra/path` to `/attention`, with its query; answers 404 with a link if there is no page.

    Streamlit's front end would look for its scripts beside that path and stay white. The path of a page that is gone
    leads to the page that has its content (`pages.MOVED`). `base` is `server.baseUrlPath`.
    """

    def __init__(self, app: ASGIApp, base: str = "") -> None:
        self.app = app
        self.base = f"/{base.strip('/')}".rstrip("/")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Redirect, answer 404, or pass on."""
        page, *below = scope.get("path", "").removeprefix(self.base).strip("/").split("/")
        is_ours = page in ("_stcore", "operators") or "." in (page, *below)[-1] or not is_page_load(scope)
        if is_ours or (not below and page in {"", "ready", *PAGES}):  # a dot: it is a file
            await self.app(scope, receive, send)
        elif page in PAGES or page in MOVED:
            query = scope["query_string"].decode("latin-1")
            if page in MOVED:
                page, key, value = MOVED[page]
                query = "&".join(filter(None, (urlencode({key: value}), query)))
            await RedirectResponse(f"{self.base}/{page}{f'?{query}' if query else ''}")(scope, receive, send)
        else:
            sentence = _NO_PAGE.format(page=quote_text(page), home=f"{self.base}/")
            await HTMLResponse(_PAGE.format(title="No such page", sentence=sentence), 404)(scope, receive, send)


_SAVE = "Whoever made it can save it as a file instead, with the button “Copy link to this view”."


class AddressLimit:
    """Answers 414 with a sentence to a link that is too long, which Streamlit would ignore without a word."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse page loads with too many characters or parameters; pass on the rest."""
        query = scope.get("query_string", b"")
        n, n_fields, sentence = len(scope.get("path", "")) + len(query), query.count(b"&") + 1, ""
        if n > MAX_ADDRESS:
            sentence = f"This link has {n:,} characters, and the playground takes {MAX_ADDRESS:,}."
        elif n_fields > LINK_FIELDS:
            sentence = f"This link has {n_fields:,} parameters, and the playground takes {LINK_FIELDS:,}."
        if sentence and is_page_load(scope):
            page = _PAGE.format(title="Link too long", sentence=f"{sentence} {_SAVE}")
            await HTMLResponse(page, 414)(scope, receive, send)
        else:
            await self.app(scope, receive, send)


def content_security_policy(frame_ancestors: str) -> str:
    """Return the policy that Streamlit's front end, Plotly and inline components need: no `eval`, no other host.

    `blob:` scripts are inline components (`st.components.v2`); Plotly and the front end draw with inline styles.
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
    """Return sources that allow exactly the inline scripts of the installed Streamlit's page."""
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
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped.is_loopback  # a socket for both families reports ::ffff:127.0.0.1
    return address.is_loopback
