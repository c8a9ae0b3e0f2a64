"""Pages of other sites, and the server's own way to the outside: there is none."""

from pathlib import Path

import pytest
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import InvalidStatus

from benchmarks.load.student import visit
from playground.pages import PAGES
from playground.web.server import Protection, Visitors, is_own_origin
from tests.attacks.client import ROUNDS, ask, join, port_of, rerun, shake_hands
from tests.browser.server import Server
from tests.waiting import run_coroutine


@pytest.mark.parametrize(
    ("origin", "host", "own"),
    [
        ("http://127.0.0.1:8501", "127.0.0.1:8501", True),
        ("http://[::1]:8501", "[::1]:8501", True),
        ("https://school.example", "school.example:443", True),  # a proxy that writes the port that browsers leave out
        ("https://school.example:8443", "school.example", False),
        ("https://school.example", "school.example:8443", False),
        ("https://school.example.elsewhere.example", "school.example", False),
        ("https://elsewhere.example@school.example", "elsewhere.example", False),
        ("null", "school.example", False),
        ("https://school.example:port", "school.example", False),
        ("https://[school.example", "school.example", False),
    ],
)
def test_an_origin_is_own_where_it_has_the_same_host_and_port(origin: str, host: str, own: bool) -> None:
    assert is_own_origin(origin, host) == own


def test_foreign_handshakes_and_uploads_are_refused(target: Server, connections: Path) -> None:
    own, foreign = f"127.0.0.1:{port_of(target)}", {"Origin": "https://elsewhere.example"}

    async def attack() -> None:
        for round_ in range(ROUNDS):
            for origin in (
                f"https://{round_}.elsewhere.example",
                "null",
                "http://localhost:1",
                f"http://{own}.example",
            ):
                status, sentence = await shake_hands(target, Origin=origin)
                assert (status, sentence) == (403, "The playground takes no requests from pages of other sites.")
        assert await shake_hands(target, Origin=f"http://{own}") == (101, "")

    run_coroutine(attack())
    assert connections.read_text() == ""
    with pytest.raises(InvalidStatus) as refused:
        run_coroutine(join(target, foreign))
    headers = {name.lower() for name in refused.value.response.headers}
    assert {"content-security-policy", "x-content-type-options", "referrer-policy"} <= headers
    for method in ("PUT", "POST", "DELETE"):
        assert ask(target, "/_stcore/upload_file/session/file", method, b"", foreign)[0] == 403
    assert ask(target, "/attention", headers=foreign)[0] == 200  # a link on another site's page is followed so
    assert target.tracebacks() == []


def test_every_page_is_drawn_without_a_network_and_tells_nobody(target: Server, connections: Path) -> None:
    async def open_pages() -> None:
        for page in PAGES:
            async with visit(port_of(target), page) as student:
                await student.open()
        socket = await join(target)
        await socket.send(rerun())
        async for data in socket:
            message = ForwardMsg.FromString(data)
            if message.HasField("new_session"):
                assert not message.new_session.config.gather_usage_stats
                break
        await socket.close()

    run_coroutine(open_pages())
    for path in ("/", "/attention", "/_stcore/health", "/_stcore/host-config", "/ready", "/operators/metrics"):
        assert ask(target, path)[0] == 200
    assert connections.read_text() == ""
    assert target.tracebacks() == []


def test_other_names_are_refused_where_the_operator_lists_the_servers_own(monkeypatch: pytest.MonkeyPatch) -> None:
    async def inside(scope: Scope, receive: Receive, send: Send) -> None:
        await PlainTextResponse("inside")(scope, receive, send)

    options = {"server.allowedHosts": ["school.example"], "server.enableCORS": True, "server.corsAllowedOrigins": []}
    monkeypatch.setattr("streamlit.config.get_option", options.__getitem__)
    client = TestClient(Protection(inside, Visitors(1)))
    for path, host, status in (
        ("/attention", "school.example", 200),
        ("/attention", "school.example:8501", 200),
        ("/attention", "rebound.example", 403),
        ("/_stcore/upload_file/session/file", "rebound.example", 403),
        ("/_stcore/health", "10.0.0.7:8501", 200),  # a probe of a cluster knows no name
        ("/ready", "10.0.0.7:8501", 200),
    ):
        assert client.get(path, headers={"host": host}).status_code == status
    options["server.corsAllowedOrigins"] = ["https://lms.example"]
    for origin, status in (("https://lms.example", 200), ("https://other.example", 403)):
        assert client.put("/x", headers={"host": "school.example", "origin": origin}).status_code == status
    options["server.enableCORS"] = False
    assert client.put("/x", headers={"host": "school.example", "origin": "https://other.example"}).is_success
