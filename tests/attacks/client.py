"""A client that sends what no browser would: on loopback, to a server of the tests."""

import os
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus

from tests.browser.server import Server

ROUNDS = int(os.environ.get("SOAK_ATTACKS", "3"))

NONE: Mapping[str, str] = {}
PAGE = {"Accept": "text/html"}
"""What a browser sends with the request of a page."""


def port_of(server: Server) -> int:
    """Where it listens."""
    return urlsplit(server.url).port or 80


async def join(server: Server, headers: Mapping[str, str] = NONE, protocols: Sequence[str] = ()) -> ClientConnection:
    """An open websocket on the pages' stream; raises InvalidStatus where the handshake is refused."""
    address = f"ws://127.0.0.1:{port_of(server)}/_stcore/stream"
    spoken: Any = ["streamlit", *protocols]
    return await connect(address, subprotocols=spoken, additional_headers=dict(headers), max_size=None)


async def shake_hands(server: Server, **headers: str) -> tuple[int, str]:
    """The status of a handshake's answer, 101 where it is let in; and what it says."""
    try:
        socket = await join(server, headers)
    except InvalidStatus as refusal:
        return refusal.response.status_code, (refusal.response.body or b"").decode()
    await socket.close()
    return 101, ""


def ask(
    server: Server, path: str, method: str = "GET", body: bytes | None = None, headers: Mapping[str, str] = PAGE
) -> tuple[int, str]:
    """The status of an answer, and its text."""
    request = urllib.request.Request(server.url + path, body, dict(headers), method=method)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refusal:
        return refusal.code, refusal.read().decode()


def rerun() -> bytes:
    """The message with which a browser opens a page."""
    message = BackMsg()
    message.rerun_script.page_name = "attention"
    return bytes(message.SerializeToString())
