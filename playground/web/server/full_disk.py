"""Uploads while the disk is full: one at a time in memory, and a plain answer where one fails all the same."""

import asyncio
import logging
import shutil
import tempfile
from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.formparsers import MultiPartParser
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from playground.web.server.asgi import UPLOAD_PATH

logger = logging.getLogger(__name__)

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
