"""ASGI layers that read what browsers send: messages over the pages' websocket, and files, on a full disk too.

Streamlit keeps whatever is sent to its upload address until the session ends, whether a page ever asks for it or not.
"""

import asyncio
import logging
import re
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import cast

from starlette.datastructures import Headers
from starlette.formparsers import MultiPartParser
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketDisconnected
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime import get_instance
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager

from playground.web.server.middleware import UPLOAD_PATH, ClosableStream, is_stream, refuse_request

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
"""The kinds of messages that the playground's pages send.

Not among them: `clear_cache`, which ends everybody's training and drops what all visitors share; `load_git_info`, which
tells of the server's repository; `set_run_on_save`; those that write to the server's disk; and those for debugging.
"""

MOST_FILES = 16
"""Files whose upload one message may announce; the pages' uploaders take one at a time."""

PATIENCE = 20
"""Refused messages after which a connection is closed."""

_NOT_A_MESSAGE, _POLICY = 1002, 1008  # RFC 6455, section 7.4.1


class FilterMessages:
    """Drops messages of a kind that no page sends, and closes connections that send many, or what is no message."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Watch what comes over the pages' websocket; pass on everything else as it is."""
        if is_stream(scope):
            stream = _WatchedStream(receive, send)
            try:
                await self.app(scope, stream.receive, stream.send)
            except WebSocketDisconnected:  # Streamlit closes what is closed where a visitor leaves while it sends
                logger.info("a visitor left while a message was on its way")
        else:
            await self.app(scope, receive, send)


class _WatchedStream(ClosableStream):
    """A websocket of which the application receives the messages that pages send."""

    refused = 0

    async def receive(self) -> Message:
        """The next message that a page may send, or that the connection has ended."""
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
    """The kind of a browser's message, with the operation's name where it asks for one; empty where it is none."""
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


ANNOUNCED = 60.0
"""Seconds in which an upload has to begin, once its page has announced it; browsers do so at once."""

STALLED = 20.0
"""Seconds that an upload may take until more of it comes."""

WAITING = 60.0
"""Seconds that a file waits for its page to read it; then it is let go."""

FRESH = 5.0
"""Seconds in which no other file takes the room of one that waits."""

_PATH = re.compile(rf"{UPLOAD_PATH}([^/]+)/([^/]+)/?$")

Name = tuple[str, str]
"""Of an upload: its session, and its file, as its address has them."""


class _NoRoomError(Exception):
    """Ends an upload for which there is no room."""


class _Body:
    """A request's body, as it comes; raises TimeoutError where it stalls."""

    def __init__(self, receive: Receive) -> None:
        self.from_client = receive
        self.size = 0
        self.is_complete = False

    async def receive(self) -> Message:
        """The next part; after the last, that the client has gone."""
        if self.is_complete:
            return await self.from_client()
        event = await asyncio.wait_for(self.from_client(), STALLED)
        self.size += len(event.get("body", b""))
        self.is_complete = event["type"] != "http.request" or not event.get("more_body", False)
        return event


def _file_manager() -> MemoryUploadedFileManager:
    return cast(MemoryUploadedFileManager, get_instance().uploaded_file_mgr)


class LimitUploads:
    """Takes a file where its page has announced it, and as long as all that wait to be read have at most `limit` bytes.

    Each announcement is good for one file. A page reads its file as soon as it is there; what nobody reads is let go
    after a minute, and before that where its room is needed.
    """

    def __init__(
        self, app: ASGIApp, limit: int, manager: Callable[[], MemoryUploadedFileManager] = _file_manager
    ) -> None:
        self.app = app
        self.limit = limit
        self.manager = manager
        self.announced: dict[str, dict[str, float]] = {}
        """Until when each file of a session may begin, by `time.monotonic`; the last that the session announced."""
        self.arriving: dict[Name, int] = {}
        """Bytes that have come of each."""
        self.arrived: dict[Name, float] = {}
        """When each was complete, of those that may still wait."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Note what pages announce, and watch over uploads; pass on everything else as it is."""
        found = _PATH.search(scope["path"]) if scope["type"] == "http" and scope["method"] == "PUT" else None
        if is_stream(scope):
            await self._note_announcements(scope, receive, send)
        elif found:
            await self._take((found[1], found[2]), scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _note_announcements(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = 0

        async def receive_and_count() -> Message:
            nonlocal asked
            event = await receive()
            asked += event["type"] == "websocket.receive" and kind_of(event.get("bytes")) == "file_urls_request"
            return event

        async def send_and_note(message: Message) -> None:
            nonlocal asked
            if asked and message["type"] == "websocket.send" and self._note_urls(message.get("bytes") or b""):
                asked -= 1
            await send(message)

        await self.app(scope, receive_and_count, send_and_note)

    def _note_urls(self, data: bytes) -> bool:
        """Note the addresses that the server gives a page; whether this message does so."""
        message, now = ForwardMsg.FromString(data), monotonic()
        if message.WhichOneof("type") != "file_urls_response":
            return False
        self.announced = {session: files for session, files in self.announced.items() if max(files.values()) > now}
        for urls in message.file_urls_response.file_urls:
            if found := _PATH.search(urls.upload_url):
                files = {**self.announced.get(found[1], {}), found[2]: now + ANNOUNCED}
                self.announced[found[1]] = dict(list(files.items())[-MOST_FILES:])
        return True

    async def _take(self, name: Name, scope: Scope, receive: Receive, send: Send) -> None:
        body = _Body(receive)
        session, file = name
        if self.announced.get(session, {}).get(file, 0.0) < monotonic():
            await self._refuse("No page of the playground has announced this file.", 403, body, scope, send)
            return

        async def receive_within_limits() -> Message:
            event = await body.receive()
            self.arriving[name] = body.size
            self._make_room()
            return event

        self.announced[session][file] = 0.0  # for this once
        self.arriving[name] = 0
        try:
            await self.app(scope, receive_within_limits, send)
        except _NoRoomError:
            self.arriving[name] = 0
            await self._refuse("Many files are being opened right now; try again in a minute.", 503, body, scope, send)
        except TimeoutError:
            await refuse_request("Nothing more of this file has come.", 408, scope, body.receive, send)
        finally:
            del self.arriving[name]
        if self.manager().get_files(*_one(name)):
            self.arrived[name] = monotonic()
            asyncio.get_running_loop().call_later(WAITING, self._let_go, name)

    async def _refuse(self, sentence: str, status: int, body: "_Body", scope: Scope, send: Send) -> None:
        """Answer once the whole body has come, and was dropped: before that, nobody listens."""
        with suppress(TimeoutError):
            while not body.is_complete and body.size <= self.limit:
                await body.receive()
        await refuse_request(sentence, status, scope, body.receive, send)

    def _make_room(self) -> None:
        """Let files go that have waited long enough, the oldest first; raises where that is not enough."""
        self.arrived = {name: when for name, when in self.arrived.items() if self.manager().get_files(*_one(name))}
        old = [name for name, when in self.arrived.items() if monotonic() - when > FRESH]
        while sum(self.arriving.values()) + self._waiting_bytes() > self.limit:
            if not old:
                raise _NoRoomError
            self._let_go(old.pop(0))

    def _waiting_bytes(self) -> int:
        storage = self.manager().file_storage
        return sum(len(file.data) for files in list(storage.values()) for file in list(files.values()))

    def _let_go(self, name: Name) -> None:
        self.arrived.pop(name, None)
        with suppress(RuntimeError):  # the server has ended meanwhile
            self.manager().remove_file(*name)


def _one(name: Name) -> tuple[str, list[str]]:
    """A name as Streamlit's manager looks for it."""
    return name[0], [name[1]]


NO_ROOM = "The server has no room for this file just now. Please try again in a while."

_ON_DISK_FROM = MultiPartParser.spool_max_size
"""Bytes from which Starlette puts a part of a form on the disk."""

_IN_MEMORY = 2**40


def free_bytes() -> int:
    """What the folder for temporary files has room for; 0 where there is none that can be written to."""
    try:
        return shutil.disk_usage(tempfile.gettempdir()).free
    except OSError:
        return 0


class FullDisk:
    """Has an upload that the disk has no room for read in memory, where the file is kept anyway once it is there.

    One at a time, so that their memory is bounded; nobody waits for another's. Who comes meanwhile, or whose upload
    fails for want of room all the same, gets 507 and one sentence. The log names neither session nor file.
    """

    def __init__(self, app: ASGIApp, free: Callable[[], int] = free_bytes) -> None:
        self.app = app
        self.free = free
        self.one_at_a_time = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Look after uploads; pass on everything else as it is."""
        if scope["type"] != "http" or scope["method"] != "PUT" or UPLOAD_PATH not in scope["path"]:
            await self.app(scope, receive, send)
            return
        length = Headers(scope=scope).get("content-length", "")
        if (int(length) if length.isdigit() else 0) < self.free():
            await self._pass_on(scope, receive, send)
            return
        if self.one_at_a_time.locked():
            await PlainTextResponse(NO_ROOM, 507)(scope, receive, send)
            return
        async with self.one_at_a_time:
            MultiPartParser.spool_max_size = _IN_MEMORY
            try:
                await self._pass_on(scope, receive, send)
            finally:
                MultiPartParser.spool_max_size = _ON_DISK_FROM

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        has_begun = False

        async def note_begin(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self.app(scope, receive, note_begin)
        except OSError as error:
            if has_begun:
                raise
            logger.error("An upload failed: %s", error.strerror or error)
            await PlainTextResponse(NO_ROOM, 507)(scope, receive, send)
