"""How many pages may be open, and which browser asks."""

from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic

from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from streamlit.web.server.starlette.starlette_app_utils import decode_xsrf_token_string
from streamlit.web.server.starlette.starlette_server_config import XSRF_COOKIE_NAME

from playground.web.server.middleware import PAGE, is_page_load, is_stream, refuse_request

RETRY_AFTER = 10
"""Seconds after which a refused page load tries again."""

FULL = "The playground is full right now."

_RELOAD = f'<meta http-equiv="refresh" content="{RETRY_AFTER}">'


def browser_of(cookies: Mapping[str, str]) -> str:
    """Return the token by which Streamlit's cookie knows a browser; empty without one."""
    token = decode_xsrf_token_string(cookies.get(XSRF_COOKIE_NAME, ""))[0]
    return token.hex() if token else ""


@dataclass
class Visitors:
    """The open pages, of which there may be `limit`."""

    limit: int
    open: int = 0
    last_left: float | None = None
    """When the last of them left, by `time.monotonic`; None if nobody has."""

    @property
    def is_full(self) -> bool:
        """Whether nobody else may come in."""
        return self.open >= self.limit


class SessionCap:
    """Cap the open pages, each of which holds one websocket; at the cap a page load gets a page that tries again."""

    def __init__(self, app: ASGIApp, visitors: Visitors) -> None:
        self.app, self.visitors = app, visitors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count websockets on Streamlit's stream; refuse new visitors at the cap."""
        visitors = self.visitors
        if is_stream(scope):
            if visitors.is_full:
                await refuse_request(FULL, 503, scope, receive, send)
                return
            visitors.open += 1
            try:
                await self.app(scope, receive, send)
            finally:
                visitors.open -= 1
                visitors.last_left = monotonic()
        elif visitors.is_full and is_page_load(scope):
            sentence = f"{FULL} This page tries again every {RETRY_AFTER} seconds; your link keeps everything you set."
            headers = {"Retry-After": str(RETRY_AFTER), "Cache-Control": "no-store"}
            page = PAGE.format(title="Playground full", head=_RELOAD, sentence=sentence)
            await HTMLResponse(page, 503, headers)(scope, receive, send)
        else:
            await self.app(scope, receive, send)
