"""What the ASGI layers share: kinds of requests, refusals in a sentence, and websockets that a layer may close."""

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

STREAM_PATH = "/_stcore/stream"
UPLOAD_PATH = "/_stcore/upload_file/"


def is_stream(scope: Scope) -> bool:
    """Whether a connection is the websocket over which a page talks to Streamlit."""
    return bool(scope["type"] == "websocket" and scope["path"].endswith(STREAM_PATH))


def is_page_load(scope: Scope) -> bool:
    """Whether a request is a browser's for a page, rather than for what a page consists of."""
    return scope["type"] == "http" and "text/html" in Headers(scope=scope).get("accept", "")


async def refuse_request(sentence: str, status: int, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request, or the handshake of a websocket, with a status and one sentence."""
    if scope["type"] == "websocket":
        await receive()  # the connect message, which ASGI has us read before answering
        if "websocket.http.response" not in scope.get("extensions", {}):
            await send({"type": "websocket.close", "code": 1008, "reason": sentence})
            return
    await PlainTextResponse(sentence, status_code=status)(scope, receive, send)


class ClosableStream:
    """A websocket that a layer may close: the application then hears that it has ended, and is heard no more."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self.from_browser = receive
        self.to_browser = send
        self.is_closed = False

    async def receive(self) -> Message:
        """The next event of the browser's."""
        return await self.from_browser()

    async def send(self, message: Message) -> None:
        """Send what the application has to say, unless the connection has been closed here."""
        if not self.is_closed:
            await self.to_browser(message)

    async def close(self, code: int, reason: str) -> Message:
        """Close the connection with a code of RFC 6455; returns the event that tells the application."""
        self.is_closed = True
        await self.to_browser({"type": "websocket.close", "code": code, "reason": reason})
        return {"type": "websocket.disconnect", "code": code}
