"""Files that are too large, or for no open page, and names that no browser sends."""

import asyncio
from contextlib import AsyncExitStack

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Common_pb2 import FileURLs
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.web.server.starlette.starlette_app_utils import generate_xsrf_token_string
from websockets.asyncio.client import ClientConnection

from playground.weights import MAX_BYTES
from tests.attacks.client import ask, join
from tests.browser.server import Server
from tests.waiting import run_coroutine

TOKEN = generate_xsrf_token_string(b"sixteen bytes...")
OWN = {"X-Xsrftoken": TOKEN, "Cookie": f"_streamlit_xsrf={TOKEN}"}
EDGE = "a-line-between-parts"


async def put(server: Server, path: str, name: bytes = b"x.safetensors") -> tuple[int, str]:
    """Send a file as a browser does, to a path of the upload endpoint; the answer."""
    head = b'--%b\r\nContent-Disposition: form-data; name="file"; filename="%b"\r\n\r\n' % (EDGE.encode(), name)
    headers = {"Content-Type": f"multipart/form-data; boundary={EDGE}", **OWN}
    body = head + bytes(100) + f"\r\n--{EDGE}--\r\n".encode()
    return await asyncio.to_thread(ask, server, path, "PUT", body, headers)


ANNOUNCEMENT = BackMsg()
ANNOUNCEMENT.file_urls_request.request_id = "1"
ANNOUNCEMENT.file_urls_request.file_names.append("x.safetensors")


async def announce(socket: ClientConnection) -> FileURLs:
    """Where the server has a page send a file."""
    await socket.send(ANNOUNCEMENT.SerializeToString())
    while True:
        message = ForwardMsg.FromString(await asyncio.wait_for(socket.recv(), 20))
        if message.WhichOneof("type") == "file_urls_response":
            (urls,) = list[FileURLs](message.file_urls_response.file_urls)
            return urls


def test_a_file_above_the_limit_is_refused_before_it_is_read(target: Server) -> None:
    async def attack() -> None:
        async with AsyncExitStack() as stack:
            socket = await join(target)
            stack.push_async_callback(socket.close)
            announced = await announce(socket)
            large = {**OWN, "Content-Length": str(MAX_BYTES + 9**7)}
            assert (await asyncio.to_thread(ask, target, announced.upload_url, "PUT", None, large))[0] == 413
            assert (await put(target, announced.upload_url))[0] == 204
            for name in (b"../../etc/passwd", b"a\0b.safetensors", b"", b"<img src=x>.safetensors", b"x" * 5_000):
                status, sentence = await put(target, announced.upload_url, name)
                assert status in {204, 400}
                assert "Traceback" not in sentence
            assert (await put(target, "/_stcore/upload_file/no-session/file"))[0] == 400

    run_coroutine(attack())
    assert target.tracebacks() == []
