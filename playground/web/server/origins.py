"""The ASGI layer that stands before all others: whose pages may talk to this server, and by which names it is reached.

Streamlit has a check of its own. It asks an outside service for this machine's address before it refuses an origin, so
one foreign handshake a second would hold up every visitor. What this layer lets through never gets that far.
"""

import logging
import time
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit import config
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

from playground.web.server.asgi import refuse_request

logger = logging.getLogger(__name__)

PROBES = ("/_stcore/health", "/_stcore/metrics", "/ready", "/operators/metrics")
"""Paths that a balancer or a probe asks for by the machine's address instead of the site's name."""

READING_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})

_DEFAULT_PORTS = {"http": 80, "https": 443}

_QUIET = 60.0
"""Seconds between two lines in the log on refusals: anybody can cause as many as they like."""


class RefuseForeignOrigins:
    """Refuses websockets and uploads from pages of other sites, and every request by a name that is not the server's.

    A page's origin is its own where it names the same host and port as the request's `Host`, or where it is in
    Streamlit's `server.corsAllowedOrigins`; with `server.enableCORS=false`, any is. A request without an `Origin` is
    from no page, as browsers send one with every handshake. The names are Streamlit's `server.allowedHosts`; without
    any, each is allowed.
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
    """Whether an `Origin` is that of the pages that this `Host` serves, or one that the operator allows."""
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
