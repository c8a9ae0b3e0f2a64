"""A page that comes back: to a server that has forgotten it, and to one that was killed and started again."""

import os
import re
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
from playwright.sync_api import Browser, WebSocketRoute, expect

from playground.weights.checkpoint import MINILM_PACKAGE, WEIGHTS
from tests.browser.server import STREAMLIT, copy_weights, serve
from tests.browser.visitor import Visitor

FORGETS = 1
"""Seconds after which the server forgets who is away; by itself it takes two minutes."""

RUN = "/training?training_task=Sort&training_steps=4000&training_lr=0.003&seed=4&text=Ann+saw+Tom"
TRAINS = 300_000
"""Milliseconds in which the smallest small English is trained, beside other tests."""


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as running:
        yield running


def free_port() -> int:
    """A port that nobody takes by chance while its server is away: no browser that asks for one, and no other run."""
    for port in range(20_000 + os.getpid() % 9_000, 30_000):
        with socket.socket() as free, suppress(OSError):
            free.bind(("127.0.0.1", port))
            return port
    raise OSError("no port is free")


def shown(visitor: Visitor) -> Any:
    """All that a student sees and has set."""
    sliders = visitor.page.get_by_test_id("stMain").locator("input[type=range]")  # the sidebar folds what is locked
    values = [slider.get_attribute("aria-valuetext") for slider in sliders.all()]
    return visitor.query(), values, visitor.widget("text").locator("textarea").input_value(), visitor.charts()


def test_pages_come_back_as_they_were(stack: ExitStack, tmp_path: Path, browser: Browser) -> None:
    """A browser that was away until its session was dropped; then a server that is killed while it trains."""
    environ = {**copy_weights(tmp_path), "STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL": str(FORGETS)}
    server = stack.enter_context(serve(tmp_path, *STREAMLIT, port=free_port(), **environ))
    visitor, sockets = Visitor.anew(server, browser), list[WebSocketRoute]()
    away_until, answers = 0.0, 0

    def pass_on(socket: WebSocketRoute) -> None:
        if time.monotonic() < away_until:
            socket.close()
            return
        upstream = socket.connect_to_server()
        sockets.append(upstream)

        def answer(message: str | bytes) -> None:
            nonlocal answers
            answers += 1
            socket.send(message)

        upstream.on_message(answer)

    visitor.page.route_web_socket("**/_stcore/stream", pass_on)
    visitor.open("/attention?weights=random&n_layers=2&layer=1&head=3&attention_closer=true")
    visitor.type_text("a sentence that must come back")
    visitor.settled().press("n_layers", "ArrowRight")
    visitor.settled().choose("attention_view", "ranking")
    before = shown(visitor.settled())
    away_until = time.monotonic() + FORGETS + 1
    n_before = len(sockets)
    sockets[-1].close()
    answers = 0
    visitor.eventually(lambda: len(sockets) > n_before and answers > 0, "an answer over another connection")
    assert time.monotonic() > away_until
    visitor.settled().eventually(lambda: shown(visitor) == before, "the page as it was before the break")
    visitor.type_text("and it answers")
    visitor.eventually(
        lambda: "attention_pattern" in visitor.charts() and "answers₃" in visitor.labels(), "the new sentence"
    )

    visitor.open("/attention?weights=english&n_layers=1&d_model=8").press("n_heads", "ArrowLeft")
    visitor.eventually(lambda: visitor.query().get("n_heads") == ["2"], "two heads in the link")
    missing = visitor.page.get_by_text("nobody has trained this one yet")
    expect(missing).to_be_visible()
    expect(missing).to_have_count(0, timeout=TRAINS)  # it begins by itself, as its visitor stays
    link, learnt = visitor.settled().page.url, visitor.array("attention_pattern", name="customdata")

    visitor.open(RUN)
    before = shown(visitor)
    visitor.widget("training_start").get_by_role("button").click()
    bar = visitor.page.get_by_test_id("stProgress")
    expect(bar).to_contain_text(re.compile("Training: step [0-9]"))
    os.kill(server.process_id, signal.SIGKILL)
    os.waitid(os.P_PID, server.process_id, os.WEXITED | os.WNOWAIT)  # its training dies at a low priority too
    (tmp_path / MINILM_PACKAGE / "model" / WEIGHTS).write_bytes(b"other weights")
    stack.enter_context(serve(tmp_path, *STREAMLIT, port=urlsplit(server.url).port or 0, **environ))
    expect(bar).to_have_count(0, timeout=120_000)  # the longer a server is away, the more rarely a browser asks
    visitor.eventually(lambda: shown(visitor) == before, "the page as it was")
    visitor.widget("training_start").get_by_role("button").click()
    expect(bar).to_contain_text(re.compile("Training: step [0-9]"))
    visitor.widget("training_stop").get_by_role("button").click()
    expect(bar).to_contain_text("Stopped at step")

    visitor.open(link)
    expect(missing).to_have_count(0)
    np.testing.assert_array_equal(visitor.array("attention_pattern", name="customdata"), learnt)
    visitor.open("/attention")
    assert "The trained weights are not on this server" in visitor.notices()
    expect(visitor.page.get_by_test_id("stMain")).to_contain_text("random weights")
    expect(visitor.slider("n_layers")).to_be_enabled()
    assert "not the file that was published" in server.log.read_text()
    visitor.errors.clear()  # connections that broke are what this is about
    visitor.settled().assert_well()
    visitor.page.context.close()
