"""Handshakes that never say anything take no visitor's place."""

import asyncio
import time
from contextlib import AsyncExitStack, suppress

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from benchmarks.load.student import visit
from playground.web.server.settings import Settings
from playground.web.server.visitors import FIRST_MESSAGE
from tests.attacks.client import ask, join, port_of
from tests.browser.server import Server
from tests.waiting import run_coroutine

FORGED = ("token", "a-session-that-never-was")
"""What stands in a handshake's protocols where a page comes back to its session."""


def test_two_hundred_silent_handshakes_make_room_within_seconds(target: Server) -> None:
    places = Settings().max_sessions

    async def attack() -> None:
        async with AsyncExitStack() as stack:
            silent = [await stay(stack, FORGED if n % 2 else ()) for n in range(places)]
            assert (await asyncio.to_thread(ask, target, "/attention"))[0] == 503
            began = time.monotonic()
            while (await asyncio.to_thread(ask, target, "/attention"))[0] == 503:
                assert time.monotonic() - began < FIRST_MESSAGE + 5
                await asyncio.sleep(0.5)
            student = await stack.enter_async_context(visit(port_of(target), "attention"))
            await student.open()
            await asyncio.gather(*map(wait_for_close, silent[::2]))
            assert {socket.close_code for socket in silent[::2]} == {1008}
            for _ in range(places // 2 - 1):
                await stay(stack, FORGED)
            # No place is free now: a newcomer takes that of a page that came back and says nothing.
            assert {socket.close_code for socket in silent[1::2]} == {None}
            other = await stack.enter_async_context(visit(port_of(target), "norms"))
            await other.open()
            await student.go("norms")
            assert [socket.close_code for socket in silent[1::2]].count(None) == places // 2 - 1

    async def stay(stack: AsyncExitStack, protocols: tuple[str, ...]) -> ClientConnection:
        socket = await join(target, protocols=protocols)
        stack.push_async_callback(socket.close)
        return socket

    run_coroutine(attack())
    assert target.tracebacks() == []


async def wait_for_close(socket: ClientConnection) -> None:
    """Read until the server closes the connection."""
    with suppress(ConnectionClosed):
        while True:
            await asyncio.wait_for(socket.recv(), FIRST_MESSAGE + 5)
