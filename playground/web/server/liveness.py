"""Keep one server answering: connections that say nothing end, and a process that hangs ends itself.

Streamlit chooses the server, uvicorn, which has no such limits; so its class of connections gets them here.
"""

import asyncio
import contextlib
import logging
import os
import threading
import time
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

logger = logging.getLogger(__name__)

FIRST_REQUEST = 10.0
"""Seconds in which a connection has to send its first request, and after an answer the next one."""
MOST_SILENT = 64
"""Connections of one address that have not sent a request yet. Browsers and proxies speak at once."""
HANGS_AFTER = 20.0
"""Seconds without an answer after which a process ends."""

_Connection: Any = AutoHTTPProtocol


def limit_connections() -> None:
    """Raise the limit of open files to the most allowed, and limit silent connections. To be called once."""
    with contextlib.suppress(
        ImportError, ValueError
    ):  # Windows has no such limit; macOS names one that it does not give
        import resource

        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    begin = _Connection.connection_made

    def connection_made(connection: Any, transport: asyncio.Transport) -> None:
        begin(connection, transport)
        connection.began, connection.address = time.monotonic(), (connection.client or ("",))[0]
        http = (each for each in connection.connections if isinstance(each, _Connection) and not each.cycle)
        silent = [each for each in http if each.address == connection.address and not each.transport.is_closing()]
        if len(silent) > MOST_SILENT:
            min(silent, key=lambda each: each.began).transport.abort()
        connection.loop.call_later(FIRST_REQUEST, _end_if_silent, connection, None)

    _Connection.connection_made = connection_made


def _end_if_silent(connection: Any, seen: Any) -> None:
    """End a connection that still waits for the request after the one that was seen last; else look again later."""
    transport, cycle = connection.transport, connection.cycle
    if transport.is_closing() or transport.get_protocol() is not connection:  # a websocket has limits of its own
        return
    if cycle is seen and (cycle is None or cycle.response_complete):
        transport.abort()
    else:
        connection.loop.call_later(FIRST_REQUEST, _end_if_silent, connection, cycle)


def shorten_refusals(loop: asyncio.AbstractEventLoop) -> None:
    """Log one line a minute if the system refuses connections; asyncio writes thousands of tracebacks a second."""
    next_line = 0.0

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        nonlocal next_line
        if not context["message"].startswith("socket.accept()"):
            loop.default_exception_handler(context)
        elif time.monotonic() >= next_line:
            next_line = time.monotonic() + 60
            logger.error("No connection can be taken: %s", context.get("exception"))

    loop.set_exception_handler(handle)


def end_when_hung(loop: asyncio.AbstractEventLoop) -> None:
    """Start a thread that ends this process if the server's loop leaves four questions in a row unanswered.

    One alone says nothing: the machine may have slept. Whatever supervises the process starts another one.
    """

    def watch() -> None:
        unanswered = 0
        while unanswered < 4:
            answered = threading.Event()
            try:
                loop.call_soon_threadsafe(answered.set)
            except RuntimeError:  # the server has ended
                return
            unanswered = 0 if answered.wait(HANGS_AFTER / 4) else unanswered + 1
            time.sleep(0 if unanswered else HANGS_AFTER / 4)
        logger.critical("The server has answered nothing for %g seconds: this process ends", HANGS_AFTER)
        os._exit(1)

    threading.Thread(target=watch, name="end when hung", daemon=True).start()
