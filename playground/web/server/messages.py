"""An ASGI layer that reads the messages which browsers send over the pages' websocket."""

import logging

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketDisconnected
from streamlit.proto.BackMsg_pb2 import BackMsg

from playground.web.server.middleware import ClosableStream, is_stream

logger = logging.getLogger(__name__)

ALLOWED_KINDS = frozenset(
    {
        "rerun_script",  # a page is opened, or a widget changed
        "stop_script",  # the button beside a running page
        "file_urls_request",  # before an upload
        "app_heartbeat",  # from a page that holds this one in a frame
        "backend_operation_request.deferred_file",  # a download that is made when its button is pressed
    }
)
"""Kinds of messages that pages send; not `clear_cache`, which ends everybody's training, nor what writes files."""

MOST_FILES = 16
"""Files whose upload one message may announce; the pages' uploaders take one at a time."""

PATIENCE = 20
"""Refused messages after which a connection is closed."""

_NOT_A_MESSAGE, _POLICY = 1002, 1008  # RFC 6455, section 7.4.1


class FilterMessages:
    """Drops messages that no page sends, and closes connections that send many of them, or garbage."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Watch the pages' websocket; pass on everything else."""
        if is_stream(scope):
            stream = _WatchedStream(receive, send)
            try:
                await self.app(scope, stream.receive, stream.send)
            except WebSocketDisconnected:  # Streamlit closes what is closed where a visitor leaves while it sends
                logger.info("a visitor left while a message was on its way")
        else:
            await self.app(scope, receive, send)


class _WatchedStream(ClosableStream):
    """A websocket of which the application receives only what pages send."""

    refused = 0

    async def receive(self) -> Message:
        """Return the next message of an allowed kind, or the connection's end."""
        while True:
            event = await self.from_browser()
            if event["type"] != "websocket.receive":
                return event
            kind = kind_of(event.get("bytes"))
            if kind in ALLOWED_KINDS:
                return event
            self.refused += 1
            if self.refused == 1:
                logger.warning("refused message kind=%s", kind or "none")
            if not kind or self.refused > PATIENCE:
                return await self.close(_POLICY if kind else _NOT_A_MESSAGE, "No page sends this.")


def kind_of(data: bytes | None) -> str:
    """Return the kind of a browser's message, with the name of a backend operation; empty if it is no message."""
    try:
        message = BackMsg.FromString(data or b"")
    except Exception:  # protobuf's own error, of a package that is Streamlit's
        return ""
    kind = message.WhichOneof("type") or ""
    if kind == "backend_operation_request":
        return f"{kind}.{message.backend_operation_request.WhichOneof('payload')}"
    if kind == "file_urls_request" and len(message.file_urls_request.file_names) > MOST_FILES:
        return f"{kind} for many files"
    return kind
