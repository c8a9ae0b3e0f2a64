"""Files that nobody announced, more than there is room for, and names that no browser sends."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Common_pb2 import FileURLs
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.web.server.starlette.starlette_app_utils import generate_xsrf_token_string
from websockets.asyncio.client import ClientConnection

from benchmarks.load.student import Student, visit
from benchmarks.server import resident_bytes
from playground.web.server import uploads
from tests.attacks.client import ask, join, port_of
from tests.browser.server import Server, serve
from tests.waiting import run_coroutine

TOKEN = generate_xsrf_token_string(b"sixteen bytes...")
EDGE = "a-line-between-parts"


def put(server: Server, path: str, size: int = 100, name: bytes = b"x.safetensors") -> tuple[int, str]:
    """Send a file as a browser does, to a path of the upload endpoint; the answer."""
    head = b'--%b\r\nContent-Disposition: form-data; name="file"; filename="%b"\r\n\r\n' % (EDGE.encode(), name)
    headers = {
        "Content-Type": f"multipart/form-data; boundary={EDGE}",
        "X-Xsrftoken": TOKEN,
        "Cookie": f"_streamlit_xsrf={TOKEN}",
    }
    return ask(server, path, "PUT", head + bytes(size) + f"\r\n--{EDGE}--\r\n".encode(), headers)


def announcement(n: int = 1) -> bytes:
    message = BackMsg()
    message.file_urls_request.request_id = "1"
    message.file_urls_request.file_names.extend(["x.safetensors"] * n)
    return bytes(message.SerializeToString())


async def announce(socket: ClientConnection, n: int = 1) -> list[FileURLs]:
    """Where the server has a page send so many files."""
    await socket.send(announcement(n))
    while True:
        message = ForwardMsg.FromString(await asyncio.wait_for(socket.recv(), 20))
        if message.WhichOneof("type") == "file_urls_response":
            return list(message.file_urls_response.file_urls)


@pytest.fixture
def small(tmp_path: Path) -> object:
    """A server that has room for 20 MB of files."""
    with serve(tmp_path, "-m", "streamlit", "run", PLAYGROUND_MAX_UPLOADS="20000000") as running:
        yield running


def test_files_that_no_page_announced_are_not_kept(small: Server) -> None:
    async def attack() -> None:
        async with AsyncExitStack() as stack:
            socket = await join(small)
            stack.push_async_callback(socket.close)
            (announced,) = await announce(socket)
            session = announced.upload_url.split("/")[-2]
            before = resident_bytes(small.process_id)
            for n in range(5):
                answer = await asyncio.to_thread(put, small, f"/_stcore/upload_file/{session}/{n}", 19_000_000)
                assert answer == (403, "No page of the playground has announced this file.")
            assert resident_bytes(small.process_id) - before < 19_000_000
            assert put(small, announced.upload_url)[0] == 204
            assert put(small, announced.upload_url)[0] == 403  # once

    run_coroutine(attack())
    assert small.tracebacks() == []


def test_files_that_nobody_reads_take_no_more_than_their_room_and_let_others_in(small: Server) -> None:
    async def attack() -> None:
        async with AsyncExitStack() as stack:
            socket = await join(small)
            stack.push_async_callback(socket.close)
            paths = [each.upload_url for each in await announce(socket, 6)]
            sent = [(await asyncio.to_thread(put, small, path, 9_000_000))[0] for path in paths[:4]]
            assert sent == [204, 204, 503, 503]
            assert "try again" in put(small, paths[4], 9_000_000)[1]
            await asyncio.sleep(uploads.FRESH + 0.5)
            assert put(small, paths[5], 9_000_000)[0] == 204

    run_coroutine(attack())
    assert small.tracebacks() == []


@pytest.mark.parametrize(
    "name",
    [
        b"program.exe",
        b"vocabulary.txt",
        b"../../etc/passwd",
        b"a\0b.safetensors",
        b"",
        b"\xff\xfe\x80.safetensors",
        b"<img src=x onerror=alert(1)>.safetensors",
        b"x" * 5_000,
        b"x.safetensors\xe2\x80\xaetxt",
    ],
)
def test_a_forged_name_is_one_sentence_to_its_sender(target: Server, name: bytes) -> None:
    async def attack() -> tuple[int, list[str]]:
        async with visit(port_of(target), "parameters", "weights=mine") as student:
            urls = listen(student)
            await student.open()
            await student._socket.send(announcement())
            while not urls:
                await asyncio.sleep(0.02)
            status, sentence = await asyncio.to_thread(put, target, urls[0].upload_url, 100, name)
            if status != 204:
                return status, [sentence]
            widget = student.widgets["own_file_0"]
            state = WidgetState(id=widget.id)
            state.file_uploader_state_value.uploaded_file_info.add(
                file_id=urls[0].file_id, name=name.decode("latin-1"), size=100, file_urls=urls[0]
            )
            await student._run(widget.fragment, state)
            return status, [each for each in student.alerts if "can't be used" in each or "Choose one" in each]

    status, sentences = run_coroutine(attack())
    assert status in {204, 400}
    assert len(sentences) == 1
    assert sentences[0]
    assert "Traceback" not in sentences[0]
    assert target.tracebacks() == []


def listen(student: Student) -> list[FileURLs]:
    """A list that gets where the server has this student send files."""
    urls: list[FileURLs] = []
    take: Callable[[ForwardMsg], None] = student._take

    def take_urls(message: ForwardMsg) -> None:
        urls.extend(message.file_urls_response.file_urls)
        take(message)

    student.__dict__["_take"] = take_urls
    return urls
