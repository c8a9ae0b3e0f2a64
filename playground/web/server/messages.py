"""An ASGI layer that reads the messages which browsers send over the pages' websocket."""

import logging

from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketDisconnected
from streamlit.proto.BackMsg_pb2 import BackMsg

from playground.web.server.middleware import is_stream

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
    """Drop messages that no page sends, and close connections that send many of them, or garbage."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Watch the pages' websocket; pass on everything else."""
        if not is_stream(scope):
            await self.app(scope, receive, send)
            return
        n_refused, is_closed = 0, False

        async def receive_allowed() -> Message:
            nonlocal n_refused, is_closed
            while True:
                event = await receive()
                kind = kind_of(event.get("bytes"))
                if event["type"] != "websocket.receive" or kind in ALLOWED_KINDS:
                    return event
                n_refused += 1
                if n_refused == 1:
                    logger.warning("refused message kind=%s", kind or "none")
                if not kind or n_refused > PATIENCE:
                    is_closed, code = True, _POLICY if kind else _NOT_A_MESSAGE
                    await send({"type": "websocket.close", "code": code, "reason": "No page sends this."})
                    return {"type": "websocket.disconnect", "code": code}

        async def send_if_open(message: Message) -> None:
            if not is_closed:
                await send(message)

        try:
            await self.app(scope, receive_allowed, send_if_open)
        except WebSocketDisconnected:  # Streamlit sends to a visitor who has just left
            logger.info("a visitor left while a message was on its way")


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
