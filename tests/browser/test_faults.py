"""What goes wrong on a machine: memory, weights, a visitor's fifty tabs."""

import asyncio
import re
import resource
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest

from benchmarks.load.memory_bound import memory_bound
from benchmarks.load.student import LoadError, Student, visit
from benchmarks.server import resident_bytes
from playground.charts.names import escape_markdown
from playground.errors import OUT_OF_MEMORY
from playground.web.server import read_settings
from playground.weights.checkpoint import MINILM_PACKAGE, WEIGHTS
from tests.browser.server import STREAMLIT, Server, copy_weights, serve
from tests.waiting import run_coroutine, until

TABS = 50
LONG = [" ".join(f"{word}{i}" for i in range(90)) for word in "abcde"]
"""Texts of 256 tokens and more."""


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The settings of a server on a machine in trouble, which has the trained weights in a place of its own."""
    return copy_weights(tmp_path_factory.mktemp("machine")) | {
        "PLAYGROUND_MAX_SESSIONS": str(TABS),
        "PLAYGROUND_RELEASE_AFTER": "1",
        "PLAYGROUND_MAX_CACHED": "400000000",
        "PLAYGROUND_MAX_TRAININGS": "1",
    }


@pytest.fixture(scope="module")
def troubled(machine: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serve(tmp_path_factory.mktemp("troubled"), *STREAMLIT, port=0, **machine) as running:
        yield running


def follow(server: Server, page: str, act: Callable[[Student], object] | None = None, **query: str) -> Student:
    """Open a link as a student who then acts, and leaves; returns the student."""

    async def go() -> Student:
        async with visit(port(server), page, urlencode(query)) as student:
            await student.open()
            if act is not None:
                await act(student)  # type: ignore[misc]
            return student

    return run_coroutine(go())


def port(server: Server) -> int:
    return urlsplit(server.url).port or 80


def ask(server: Server, path: str, accept: str = "text/html") -> tuple[int, str]:
    """A request, as a browser makes it for a page: the answer's status and text."""
    request = urllib.request.Request(server.url + path, headers={"Accept": accept})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refusal:
        return refusal.code, refusal.read().decode()


def cached_bytes(server: Server) -> float:
    counters = ask(server, "/operators/metrics", accept="text/plain")[1]
    (size,) = re.findall(r"^playground_cache_bytes (\S+)", counters, re.M)
    return float(size)


@contextmanager
def little_memory(server: Server, spare: int) -> Iterator[None]:
    """Let the server's process have so many bytes more than it has, and no more."""
    pages = int(Path(f"/proc/{server.process_id}/statm").read_text().split()[0])
    before = resource.prlimit(server.process_id, resource.RLIMIT_AS)
    bound = pages * resource.getpagesize() + spare
    resource.prlimit(server.process_id, resource.RLIMIT_AS, (bound, before[1]))
    try:
        yield
    finally:
        resource.prlimit(server.process_id, resource.RLIMIT_AS, before)


def test_a_pass_that_runs_out_of_memory_is_one_sentence_and_a_smaller_one_works(troubled: Server) -> None:
    async def grow_and_shrink(student: Student) -> None:
        with little_memory(troubled, 260_000_000):
            await student.set("n_layers", "12")  # 430 MB of weights, and one layer has 120
            assert student.alerts == [escape_markdown(OUT_OF_MEMORY)]
            await student.set("n_layers", "1")
            assert student.alerts == []
        await student.set("n_layers", "12")
        assert student.alerts == []

    follow(troubled, "attention", grow_and_shrink, weights="random", d_model="768", d_ff="3072", n_layers="2")
    assert len(troubled.tracebacks()) == 1


def test_fifty_tabs_fill_the_seats_with_a_clear_answer_and_their_memory_comes_back(
    troubled: Server, machine: dict[str, str]
) -> None:
    follow(troubled, "attention")
    until(lambda: cached_bytes(troubled) == 0)
    time.sleep(0.5)  # the heap is trimmed after the caches are cleared
    before = resident_bytes(troubled.process_id)

    async def open_tabs() -> None:
        async with AsyncExitStack() as stack:
            queries = [urlencode({"text": text, "weights": "random", "n_layers": "6"}) for text in LONG]
            heavy = [("attention", query) for query in queries]
            light = [("tutorials", "")] * (TABS - len(heavy))
            tabs = [await stack.enter_async_context(visit(port(troubled), *each)) for each in heavy + light]
            for tab in tabs[: len(heavy) + 4]:
                await tab.open()
            status, page = await asyncio.to_thread(ask, troubled, "/attention")
            assert (status, "The playground is full" in page) == (503, True)
            with pytest.raises(LoadError, match="rejected"):
                async with visit(port(troubled), "attention") as another:
                    await another.open()
            await asyncio.sleep(1.5)  # longer than an empty server waits
            assert cached_bytes(troubled) > 10_000_000
            limits = read_settings(machine)
            nobody_trained = replace(limits, max_own_weights=0, max_shared_bytes=0, max_trainings=0)
            assert before + 60_000_000 < resident_bytes(troubled.process_id) < memory_bound(nobody_trained)

    run_coroutine(open_tabs())
    until(lambda: ask(troubled, "/attention")[0] == 200)
    until(lambda: cached_bytes(troubled) == 0 and resident_bytes(troubled.process_id) < 1.1 * before, seconds=10)


def test_weights_that_change_under_a_server_change_nothing_on_it(troubled: Server, machine: dict[str, str]) -> None:
    file = Path(machine["PYTHONPATH"]) / MINILM_PACKAGE / "model" / WEIGHTS
    with file.open("r+b") as weights:
        weights.truncate(1000)
    for change in (lambda: None, lambda: file.write_bytes(b"others"), file.unlink):
        change()
        student = follow(troubled, "attention", seed=str(file.exists()))
        assert not student.can_use("n_layers"), "the trained model's sliders are locked"
    assert troubled.tracebacks() == []
