"""Keep one server answering: connections that say nothing end, and a process that hangs ends itself.

Streamlit chooses the server, uvicorn, which has no limits of this kind; so its class of connections gets them here.
"""

import asyncio
import contextlib
import errno
import logging
import os
import resource
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
"""uvicorn's class; each kind that it may be has `client`, `connections`, `cycle`, `loop` and `transport`."""

_QUIET = 60.0
"""Seconds between two log lines that the system refuses connections."""

_SHORT_OF = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}


def limit_connections() -> None:
    """Raise the limit of open files to the most allowed, and limit silent connections. To be called once."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    with contextlib.suppress(ValueError):  # macOS names a limit that it does not give
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    begin = _Connection.connection_made

    def connection_made(connection: Any, transport: asyncio.Transport) -> None:
        begin(connection, transport)
        connection.began = time.monotonic()
        silent = [each for each in connection.connections if _is_silent(each, connection.client)]
        if len(silent) > MOST_SILENT:
            min(silent, key=lambda each: each.began).transport.abort()
        connection.loop.call_later(FIRST_REQUEST, _end_if_silent, connection, None)

    _Connection.connection_made = connection_made


def _is_silent(connection: Any, client: tuple[str, int] | None) -> bool:
    """Return whether a connection from this client's address waits for its first request."""
    if not isinstance(connection, _Connection) or connection.cycle or connection.transport.is_closing():
        return False
    return (connection.client or ("",))[0] == (client or ("",))[0]


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
        error = context.get("exception")
        if not isinstance(error, OSError) or error.errno not in _SHORT_OF:
            loop.default_exception_handler(context)
        elif time.monotonic() >= next_line:
            next_line = time.monotonic() + _QUIET
            logger.error("No connection can be taken: %s", error.strerror)

    loop.set_exception_handler(handle)


def end_when_hung(loop: asyncio.AbstractEventLoop, limit: float = HANGS_AFTER) -> None:
    """Start a thread that ends this process when the server's loop has answered nothing for so many seconds.

    Whatever supervises the process starts another one. Four questions in a row have to go unanswered: after a pause of
    the whole process, such as a sleep of the machine, the next one is answered.
    """

    def watch() -> None:
        unanswered = 0
        while unanswered < 4:
            answered = threading.Event()
            try:
                loop.call_soon_threadsafe(answered.set)
            except RuntimeError:  # the server has ended
                return
            if answered.wait(limit / 4):
                time.sleep(limit / 4)
                unanswered = 0
            else:
                unanswered += 1
        logger.critical("The server has answered nothing for %g seconds: this process ends", limit)
        os._exit(1)

    threading.Thread(target=watch, name="end when hung", daemon=True).start()
