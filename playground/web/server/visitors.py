"""Who is here: how many pages are open, how many of them one client may have, and routes that tell operators so."""

import asyncio
import html
import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import NamedTuple

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.web.server.starlette.starlette_app_utils import decode_xsrf_token_string
from streamlit.web.server.starlette.starlette_server_config import XSRF_COOKIE_NAME

from playground.web.server.middleware import ClosableStream, is_page_load, is_stream, refuse_request

FIRST_MESSAGE = 10.0
"""Seconds until a new page has asked for its first run; browsers do so at once."""

_POLICY, _TRY_LATER = 1008, 1013  # RFC 6455, section 7.4.1, and its registry

_FULL_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="refresh" content="{seconds}">
<title>Playground full</title>
</head>
<body><p>{sentence} This page tries again every {seconds} seconds;
your link keeps everything you set.</p></body>
</html>
"""


class Client(NamedTuple):
    """Who asks, as far as a request tells."""

    address: str = ""
    """The network address, of IPv6 the network that one household has; empty for this machine, such as a proxy on it
    that does not say for whom it asks."""
    browser: str = ""
    """The token of Streamlit's cookie, which a browser has after its first page; empty without one."""


def client_of(scope: Scope) -> Client:
    """Who sent a request. The address is the one that a trusted proxy names, where there is one."""
    browser = browser_of(cookie_parser(Headers(scope=scope).get("cookie", "")))
    return Client(_network((scope.get("client") or ("",))[0]), browser)


def browser_of(cookies: Mapping[str, str]) -> str:
    """The token by which Streamlit's cookie knows a browser; empty without one."""
    token = decode_xsrf_token_string(cookies.get(XSRF_COOKIE_NAME, ""))[0]
    return token.hex() if token else ""


def _network(host: str) -> str:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is None:
            return "" if address.is_loopback else str(ipaddress.ip_network((address, 64), strict=False))
        address = address.ipv4_mapped
    return "" if address.is_loopback else str(address)


@dataclass(eq=False)
class Visit:
    """One open page, by its websocket."""

    client: Client
    began: float = field(default_factory=lambda: monotonic())
    spoke: float | None = None
    """When its last message came, by `time.monotonic`."""
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when it has to make room."""


@dataclass
class Visitors:
    """The open pages, and how many there may be."""

    limit: int
    per_browser: int = 1_000_000
    """Pages of one browser."""
    address_share: float = 1.0
    """Share of all pages that clients of one network address may have."""
    idle_after: float = 3600.0
    """Seconds without a message after which a page makes room, if somebody needs it."""
    visits: list[Visit] = field(default_factory=list)
    last_left: float | None = None
    """When the last of them left, by `time.monotonic`; None while nobody has."""

    @property
    def open(self) -> int:
        """How many pages are open."""
        return len(self.visits)

    @property
    def is_full(self) -> bool:
        """Whether nobody else may come in."""
        return bool(self.find_room(Client())[1])

    def find_room(self, client: Client) -> tuple[list[Visit], str]:
        """The visits that have to end so that this client may come in, and a sentence where it may not."""
        now, ending = monotonic(), list[Visit]()
        for sentence, crowd, limit in (
            (
                "This browser has as many pages open as one may have.",
                self._of(browser=client.browser),
                self.per_browser,
            ),
            (
                "Your network has as many pages open as one may have.",
                self._of(address=client.address),
                max(1, int(self.address_share * self.limit)),
            ),
            ("The playground is full right now.", self.visits, self.limit),
        ):
            staying = [visit for visit in crowd if visit not in ending]
            if len(staying) >= limit:
                idle = [visit for visit in staying if self._is_idle(visit, now)]
                if not idle:
                    return [], sentence
                ending.append(min(idle, key=lambda visit: (visit.spoke is not None, visit.spoke or visit.began)))
        return ending, ""

    def _of(self, *, browser: str = "", address: str = "") -> list[Visit]:
        return [
            visit
            for visit in self.visits
            if (browser and visit.client.browser == browser) or (address and visit.client.address == address)
        ]

    def _is_idle(self, visit: Visit, now: float) -> bool:
        if visit.spoke is None:
            return now - visit.began > FIRST_MESSAGE
        return now - visit.spoke > self.idle_after


class SessionCap:
    """Lets in as many `visitors` as may be: each holds one websocket, and its state, for as long as the page is open.

    A page that nobody has used for long makes room for the next, and a new one that says nothing is closed. At the cap
    a page load gets a short page with status 503 that tries again by itself after `retry_after` seconds, and a new
    websocket is refused. What one client may have is a cap of its own.
    """

    def __init__(self, app: ASGIApp, visitors: Visitors, retry_after: int = 10) -> None:
        self.app = app
        self.visitors = visitors
        self.retry_after = retry_after

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count websockets on Streamlit's stream; pass on everything but new visitors at the cap."""
        if is_stream(scope):
            await self._stream(scope, receive, send)
            return
        sentence = self.visitors.find_room(client_of(scope))[1] if is_page_load(scope) else ""
        if sentence:
            headers = {"Retry-After": str(self.retry_after), "Cache-Control": "no-store"}
            page = _FULL_PAGE.format(sentence=html.escape(sentence), seconds=self.retry_after)
            await HTMLResponse(page, status_code=503, headers=headers)(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        visit = Visit(client_of(scope))
        ending, sentence = self.visitors.find_room(visit.client)
        comes_back = _comes_back(scope)
        if sentence or (ending and comes_back):  # a page that made room does not take another's place in turn
            await refuse_request(sentence or "The playground is full right now.", 503, scope, receive, send)
            return
        for idle in ending:
            self.visitors.visits.remove(idle)
            idle.ended.set()
        self.visitors.visits.append(visit)
        stream = _TimedStream(receive, send, visit, may_be_silent=comes_back)
        try:
            await self.app(scope, stream.receive, stream.send)
        finally:
            if visit in self.visitors.visits:
                self.visitors.visits.remove(visit)
            self.visitors.last_left = monotonic()


def _comes_back(scope: Scope) -> bool:
    """Whether a handshake names the session that its page had before; such a page has nothing to ask for."""
    protocols = Headers(scope=scope).get("sec-websocket-protocol", "").split(",")
    return len(protocols) > 2 and bool(protocols[2].strip())


class _TimedStream(ClosableStream):
    """A visit's websocket, which is closed where no first message comes, and when the visit has to make room."""

    def __init__(self, receive: Receive, send: Send, visit: Visit, *, may_be_silent: bool) -> None:
        super().__init__(receive, send)
        self.visit = visit
        self.may_be_silent = may_be_silent

    async def receive(self) -> Message:
        """The browser's next event, or that the connection has ended."""
        event = asyncio.ensure_future(self.from_browser())
        ended = asyncio.ensure_future(self.visit.ended.wait())
        must_speak = self.visit.spoke is None and not self.may_be_silent
        left = self.visit.began + FIRST_MESSAGE - monotonic() if must_speak else None
        try:
            await asyncio.wait({event, ended}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            if self.visit.ended.is_set():
                return await self.close(_TRY_LATER, "Another visitor needs the room of this page, which is not in use.")
            if not event.done():
                return await self.close(_POLICY, "No first message has come.")
            if event.result()["type"] == "websocket.receive":
                self.visit.spoke = monotonic()
            return event.result()
        finally:
            event.cancel()
            ended.cancel()
