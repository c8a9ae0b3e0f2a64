"""What goes wrong on a machine: disk, memory, clock, weights, a visitor's fifty tabs; a server that is killed."""

import asyncio
import re
import resource
import shutil
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
from playground.charts.markdown import escape_markdown
from playground.errors import OUT_OF_MEMORY
from playground.web.server.settings import read_settings
from playground.weights.checkpoint import MINILM_PACKAGE, WEIGHTS, minilm_path
from tests.browser.server import Server, serve
from tests.waiting import run_coroutine, until

STARTER = ("-m", "tests.browser.troubled_server")
TABS = 50
RUN = {"training_task": "Copy", "training_steps": "5000", "seed": "3"}
LONG = [" ".join(f"{word}{i}" for i in range(90)) for word in "abcde"]
"""Texts of 256 tokens and more."""


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The settings of a server on a machine in trouble, which has the trained weights in a place of its own."""
    folder = tmp_path_factory.mktemp("machine")
    weights = minilm_path()
    assert weights is not None
    shutil.copytree(weights, folder / MINILM_PACKAGE / "model")
    (folder / MINILM_PACKAGE / "__init__.py").touch()
    (folder / "clock").write_text("0")
    return {
        "PYTHONPATH": str(folder),
        "CLOCK": str(folder / "clock"),
        "HF_HOME": str(folder),
        "PLAYGROUND_MAX_SESSIONS": str(TABS),
        "PLAYGROUND_RELEASE_AFTER": "1",
        "PLAYGROUND_MAX_CACHED_RESULTS": "100000000",
        "PLAYGROUND_MAX_TRAININGS": "1",
        "STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL": "1",
    }


@pytest.fixture(scope="module")
def troubled(machine: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serve(tmp_path_factory.mktemp("troubled"), *STARTER, port=0, **machine) as running:
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
    (size,) = re.findall(r'^playground_cache_bytes\{cache="results"\} (\S+)', counters, re.M)
    return float(size)


async def training(student: Student, how: str) -> None:
    """Wait for what the progress bar says."""
    for _ in range(200):
        if re.search(how, student.progress):
            return
        await asyncio.sleep(0.1)
    raise LoadError(f"{student.progress!r} instead of {how!r}")


def shown_step(student: Student) -> int:
    """The step that the progress bar names; −1 where it names none."""
    return max((int(step.replace(",", "")) for step in re.findall(r"step ([\d,]+)", student.progress)), default=-1)


def test_a_server_whose_disk_is_full_starts_serves_and_trains(troubled: Server) -> None:
    async def train(student: Student) -> None:
        await student.press("training_start")
        await training(student, "All 100 steps are done")

    until(lambda: ask(troubled, "/ready")[0] == 200)
    assert follow(troubled, "training", train, **RUN | {"training_steps": "100"}).alerts == []
    assert follow(troubled, "attention").alerts == []
    log = troubled.log.read_text()
    assert log.count("No temporary folder") == 1
    assert "Traceback" not in log


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
        with little_memory(troubled, 100_000_000):
            await student.set("n_layers", "12")  # 280 MB of weights more
            assert student.alerts == [escape_markdown(OUT_OF_MEMORY)]
            await student.set("n_layers", "1")
            assert student.alerts == []
        await student.set("n_layers", "12")
        assert student.alerts == []

    follow(troubled, "attention", grow_and_shrink, weights="random", d_model="768", d_ff="3072", n_layers="2")
    (traceback,) = troubled.tracebacks()
    assert "ran out of memory" in traceback


def test_a_clock_that_jumps_stops_nothing_and_makes_no_time_negative(troubled: Server, machine: dict[str, str]) -> None:
    async def train(student: Student) -> None:
        await student.press("training_start")
        await training(student, "Training: step")
        for jump in ("90000", "-90000", "0"):
            Path(machine["CLOCK"]).write_text(jump)
            step = shown_step(student)
            await training(student, "about [0-9]+ (s|min)|less than")
            for _ in range(200):
                if shown_step(student) > step:
                    break
                await asyncio.sleep(0.1)
            assert shown_step(student) > step
            await training(student, r"about \S+ \S+ to go")
            left = re.findall(r"about (\S+ \S+) to go", student.progress)
            assert left
            assert not re.search(r"-\d|inf|nan|h ", left[0])
        await student.press("training_stop")
        await training(student, "Stopped at step")

    follow(troubled, "training", train, **RUN)
    assert troubled.tracebacks() == []


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
