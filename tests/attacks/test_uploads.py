"""Files that are too large, or for no open page, and names that no browser sends."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Common_pb2 import FileURLs
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.web.server.starlette.starlette_app_utils import generate_xsrf_token_string
from websockets.asyncio.client import ClientConnection

from benchmarks.load.student import Student, visit
from playground.weights import MAX_BYTES
from tests.attacks.client import ask, join, port_of
from tests.browser.server import Server
from tests.waiting import run_coroutine

TOKEN = generate_xsrf_token_string(b"sixteen bytes...")
OWN = {"X-Xsrftoken": TOKEN, "Cookie": f"_streamlit_xsrf={TOKEN}"}
EDGE = "a-line-between-parts"


def put(server: Server, path: str, size: int = 100, name: bytes = b"x.safetensors") -> tuple[int, str]:
    """Send a file as a browser does, to a path of the upload endpoint; the answer."""
    head = b'--%b\r\nContent-Disposition: form-data; name="file"; filename="%b"\r\n\r\n' % (EDGE.encode(), name)
    headers = {"Content-Type": f"multipart/form-data; boundary={EDGE}", **OWN}
    return ask(server, path, "PUT", head + bytes(size) + f"\r\n--{EDGE}--\r\n".encode(), headers)


def announcement() -> bytes:
    message = BackMsg()
    message.file_urls_request.request_id = "1"
    message.file_urls_request.file_names.extend(["x.safetensors"])
    return bytes(message.SerializeToString())


async def announce(socket: ClientConnection) -> list[FileURLs]:
    """Where the server has a page send a file."""
    await socket.send(announcement())
    while True:
        message = ForwardMsg.FromString(await asyncio.wait_for(socket.recv(), 20))
        if message.WhichOneof("type") == "file_urls_response":
            return list(message.file_urls_response.file_urls)


def test_a_file_above_the_limit_is_refused_before_it_is_read(target: Server) -> None:
    async def attack() -> None:
        async with AsyncExitStack() as stack:
            socket = await join(target)
            stack.push_async_callback(socket.close)
            (announced,) = await announce(socket)
            large = {**OWN, "Content-Length": str(MAX_BYTES + 9**7)}
            assert (await asyncio.to_thread(ask, target, announced.upload_url, "PUT", None, large))[0] == 413
            assert (await asyncio.to_thread(put, target, announced.upload_url))[0] == 204
            elsewhere = "/_stcore/upload_file/no-session/file"
            assert (await asyncio.to_thread(put, target, elsewhere))[0] == 400

    run_coroutine(attack())
    assert target.tracebacks() == []


@pytest.mark.parametrize(
    "name",
    [
        b"program.exe",
        b"../../etc/passwd",
        b"a\0b.safetensors",
        b"",
        b"\xff\xfe\x80.safetensors",
        b"<img src=x onerror=alert(1)>.safetensors",
        b"x" * 5_000,
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
            return status, [each for each in student.alerts if "can't be used" in each or "Choose a" in each]

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
