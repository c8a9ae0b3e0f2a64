"""Messages that no page sends: they reach nobody else's work, and whoever sends them stays without an answer."""

import asyncio
import re
from collections.abc import Iterator
from contextlib import suppress

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from benchmarks.load.student import Student, visit
from playground.web.server import ALLOWED_KINDS, PATIENCE, kind_of
from tests.attacks.client import ROUNDS, ask, join, port_of, rerun
from tests.browser.server import Server
from tests.waiting import run_coroutine

RUN = "training_task=Copy&training_steps=5000&seed=3"


def crafted() -> Iterator[BackMsg]:
    """A message of each kind that Streamlit knows and pages do not send."""
    for field in BackMsg.DESCRIPTOR.fields:
        if field.name not in {*ALLOWED_KINDS, "backend_operation_request"}:
            message = BackMsg()
            setattr(message, field.name, True)
            yield message
    for operation in ("install_skills", "dismiss_skills_nudge", "dataframe_chunk"):
        message = BackMsg()
        getattr(message.backend_operation_request, operation).SetInParent()
        yield message
    message = BackMsg()
    message.file_urls_request.file_names.extend(["x"] * 10_000)
    yield message


def test_the_list_names_kinds_that_streamlit_has() -> None:
    operations = BackMsg.DESCRIPTOR.fields_by_name["backend_operation_request"].message_type.fields
    known = {field.name for field in BackMsg.DESCRIPTOR.fields}
    known |= {f"backend_operation_request.{field.name}" for field in operations}
    assert known >= ALLOWED_KINDS
    kinds = {kind_of(message.SerializeToString()) for message in crafted()}
    assert not kinds & ALLOWED_KINDS
    assert {"clear_cache", "load_git_info", "set_run_on_save", "backend_operation_request.install_skills"} <= kinds


def test_no_message_touches_what_others_do(target: Server) -> None:
    async def steps(student: Student) -> int:
        await asyncio.sleep(0.5)
        return int(re.findall(r"step ([\d,]+)", student.progress)[0].replace(",", ""))

    async def attack() -> None:
        async with visit(port_of(target), "attention") as reader:
            await reader.open()
        async with visit(port_of(target), "training", RUN) as student:
            await student.open()
            await student.press("training_start")
            while "step" not in student.progress:
                await asyncio.sleep(0.1)
            before, cached = await steps(student), cached_bytes(target)
            assert cached > 0
            for _ in range(ROUNDS):
                hostile = await join(target)
                await hostile.send(rerun())
                for message in crafted():
                    await hostile.send(message.SerializeToString())
                assert "git_info_changed" not in await kinds_of_answers(hostile)
                await hostile.close()
            assert await steps(student) > before
            assert cached_bytes(target) >= cached
            await student.press("training_stop")

    run_coroutine(attack())
    assert target.log.read_text().count("refused message") == ROUNDS  # one line a connection
    assert target.tracebacks() == []


def cached_bytes(server: Server) -> float:
    counters = ask(server, "/operators/metrics")[1]
    return float(re.findall(r"^playground_cache_bytes (\S+)", counters, re.M)[0])


async def kinds_of_answers(socket: ClientConnection) -> set[str | None]:
    """What the server says until it has been quiet for a moment."""
    kinds = set()
    with suppress(TimeoutError):
        while True:
            data = await asyncio.wait_for(socket.recv(decode=False), 2)
            kinds.add(ForwardMsg.FromString(data).WhichOneof("type"))
    return kinds


@pytest.mark.parametrize(
    ("frames", "code"),
    [
        ([b"\xff" * 100], 1002),
        ([b""], 1002),
        (["a text"], 1002),
        ([BackMsg(clear_cache=True).SerializeToString()] * (PATIENCE + 1), 1008),
    ],
    ids=["garbage", "nothing", "text", "many"],
)
def test_a_connection_that_sends_no_pages_messages_is_closed(
    target: Server, frames: list[bytes | str], code: int
) -> None:
    async def attack() -> None:
        socket = await join(target)
        await socket.send(rerun())  # so that the server has something to say when it is closed
        for frame in frames:
            await socket.send(frame)
        with suppress(ConnectionClosed):
            while True:
                await asyncio.wait_for(socket.recv(), 20)
        assert socket.close_code == code

    run_coroutine(attack())
    assert target.tracebacks() == []
