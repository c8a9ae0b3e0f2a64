"""The app behind nginx, all real: two copies, one of which is killed under an open page; uploads; frames; hosts."""

import os
import signal
from collections.abc import Iterator
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, expect

from deploy.configuration import Copy
from tests.browser.visitor import Visitor
from tests.deploy.serving import Served, serve

pytestmark = pytest.mark.flaky(reruns=1)  # as the other tests in Chromium

COOKIE = "playground_copy"
UPLOAD = 106_000_000
"""Bytes of a file of the trained encoder's size, in more than one byte a number."""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Two copies, which frames of other sites at `localhost` may show, and which answer to 127.0.0.1 alone."""
    with serve(
        tmp_path_factory.mktemp("served"),
        "--copies=2",
        PLAYGROUND_FRAME_ANCESTORS="'self' http://localhost:*",
        STREAMLIT_SERVER_ALLOWED_HOSTS="127.0.0.1",
    ) as running:
        yield running


def test_a_page_whose_copy_is_killed_comes_back_on_the_other_as_it_was(served: Served, browser: Browser) -> None:
    visitor = Visitor.anew(served, browser)
    visitor.open("/attention?weights=random&n_layers=2&layer=1&head=3")
    visitor.type_text("a sentence that must come back")
    visitor.settled().press("n_layers", "ArrowRight")
    visitor.settled().choose("attention_show", "average of heads")
    visitor.settled()
    before = (visitor.query(), visitor.labels(), visitor.focused(), visitor.charts()["attention_pattern"])
    first = copy_of(visitor)
    os.kill(first, signal.SIGKILL)
    visitor.eventually(lambda: copy_of(visitor) not in {first, 0}, "another copy")
    visitor.settled()
    assert (visitor.query(), visitor.labels(), visitor.focused(), visitor.charts()["attention_pattern"]) == before
    expect(visitor.widget("text").locator("textarea")).to_have_value("a sentence that must come back")
    expect(visitor.slider("n_layers")).to_have_attribute("aria-valuetext", "3")
    visitor.type_text("and it answers")
    visitor.eventually(lambda: "answers₃" in visitor.labels(), "the new sentence")
    visitor.errors.clear()  # a connection that broke is what this is about: it may be missed until there is a new one
    visitor.settled().choose("attention_show", "one head")
    visitor.settled().assert_well()
    visitor.page.context.close()


def test_a_large_file_passes(served: Served, browser: Browser, tmp_path: Path) -> None:
    large = tmp_path / "large.safetensors"
    with large.open("wb") as file:
        file.write(b"PK\x03\x04")  # as torch.save begins
        file.truncate(UPLOAD)
    visitor = Visitor.anew(served, browser)
    visitor.open("/parameters?weights=mine")
    visitor.page.locator("[class*=st-key-own_file_] input[type=file]").set_input_files(large)
    expect(visitor.page.get_by_test_id("stSidebar").get_by_test_id("stAlert")).to_contain_text("This is a pickle")
    visitor.settled().assert_well()
    visitor.page.context.close()


def test_what_is_not_for_visitors_and_not_for_other_names(served: Served) -> None:
    assert ask(served, "GET", "/_stcore/health") == 200
    assert ask(served, "GET", "/ready") == 200
    for private in ("/_stcore/metrics", "/operators/metrics"):
        assert ask(served, "GET", private) == 404
    socket = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
              "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}  # fmt: skip
    assert ask(served, "GET", "/_stcore/stream", **socket) == 101
    assert ask(served, "GET", "/_stcore/stream", Host="elsewhere.example", **socket) == 403
    assert ask(served, "GET", "/_stcore/stream", Origin="https://elsewhere.example", **socket) == 403
    assert ask(served, "PUT", "/_stcore/upload_file/session/file") == 403  # without the token of its own page


def ask(served: Served, method: str, path: str, **headers: str) -> int:
    """The status of an answer."""
    address = urlsplit(served.url)
    connection = HTTPConnection(str(address.hostname), address.port, timeout=10)
    connection.request(method, path, headers=headers)
    status = connection.getresponse().status
    connection.close()
    return status


def test_a_frame_of_an_allowed_site_shows_the_bare_page_and_another_none(served: Served, browser: Browser) -> None:
    class Course(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = f'<iframe width="900" height="700" src="{served.url}{self.path}"></iframe>'.encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            return

    course = ThreadingHTTPServer(("", 0), Course)
    Thread(target=course.serve_forever, daemon=True).start()
    page = browser.new_page()
    refused: list[str] = []
    page.on("console", lambda message: refused.append(message.text))
    port = course.server_address[1]
    page.goto(f"http://localhost:{port}/attention?embed=true")
    frame = page.frame_locator("iframe")
    expect(frame.locator(".st-key-attention_pattern .main-svg").first).to_be_visible()
    for furniture in ("stSidebar", "stHeader", "stTopNavLink", "stMainMenu"):
        expect(frame.get_by_test_id(furniture).first).not_to_be_visible()
    assert [each for each in refused if "frame" in each.lower()] == []
    page.frames[1].goto(f"{served.url}/attention?embed=true&embed_options=show_toolbar")
    expect(frame.get_by_test_id("stSidebar")).to_be_visible()
    expect(frame.get_by_test_id("stTopNavLink").first).to_be_visible()
    page.goto(f"http://localhost:{port}/attention?embed=true&only=attention&layer=2&head=3")
    expect(frame.locator(".st-key-attention_pattern .main-svg").first).to_be_visible()
    frame.get_by_role("button", name="next head").click()
    expect(frame.locator(".st-key-attention_pattern")).to_contain_text("layer 2, head 4")
    expect(frame.locator(".st-key-attention_grid")).to_have_count(0)
    with page.expect_console_message(lambda message: "frame-ancestors" in message.text):
        page.goto(f"http://127.0.0.2:{port}/attention?embed=true")
    page.close()
    course.shutdown()
    course.server_close()


def copy_of(visitor: Visitor) -> int:
    """The process of the copy that a visitor's cookie names; 0 where it does not run."""
    assert isinstance(visitor.server, Served)
    (cookie,) = [each["value"] for each in visitor.page.context.cookies() if each.get("name") == COOKIE]
    for process_id, port in visitor.server.copies().items():
        if Copy(f"127.0.0.1:{port}").name == cookie:
            return process_id
    return 0
