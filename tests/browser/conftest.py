"""A real browser in front of the real server. Without a browser these tests fail: they are never skipped."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ViewportSize

from tests.browser.server import Server, serve
from tests.browser.visitor import Visitor


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give every test in the browser up to three tries; the summary names those that needed them.

    They wait for a browser and a server in real time: on a busy machine, a wait may be too short.
    """
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.flaky(reruns=2))


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The app with the tests' own exercises, where one network is trained at a time."""
    folder = tmp_path_factory.mktemp("server")
    with serve(folder, "-m", "tests.browser.with_exercises", PLAYGROUND_MAX_TRAININGS="1") as running:
        yield running


@pytest.fixture(scope="session")
def shared_context(browser: Browser, server: Server) -> BrowserContext:
    """One cache for most tests: each page in it is a visitor's session of its own all the same.

    Its visitor prefers reduced motion, as nothing that fades or spins is drawn then, a sixth of a browser's work.
    """
    return _open_context(browser, server, viewport={"width": 1366, "height": 900}, reduced_motion="reduce")


@pytest.fixture(scope="session")
def phone_context(browser: Browser, server: Server) -> BrowserContext:
    """A phone: a small window, a finger instead of a mouse, and all that moves."""
    size: ViewportSize = {"width": 390, "height": 844}
    return _open_context(browser, server, viewport=size, has_touch=True, is_mobile=True, device_scale_factor=2)


def _open_context(browser: Browser, server: Server, **options: Any) -> BrowserContext:
    """A context with a page that stays: with it stays the process that has read the app's scripts."""
    context = browser.new_context(**options)
    context.new_page().goto(f"{server.url}/_stcore/health")
    return context


@pytest.fixture
def visitor(server: Server, shared_context: BrowserContext) -> Iterator[Visitor]:
    """A visitor who must see nothing go wrong."""
    yield from _visit(server, shared_context)


@pytest.fixture
def classmate(server: Server, shared_context: BrowserContext) -> Iterator[Visitor]:
    """A second visitor, who follows a link of the first."""
    yield from _visit(server, shared_context)


@pytest.fixture
def phone(server: Server, phone_context: BrowserContext) -> Iterator[Visitor]:
    """A visitor with a phone."""
    yield from _visit(server, phone_context)


def _visit(server: Server, context: BrowserContext) -> Iterator[Visitor]:
    """A page in a context that others share; nothing may have gone wrong on it when the test ends, unless it left."""
    visitor = Visitor(server, context)
    yield visitor
    if not visitor.page.is_closed():
        visitor.assert_well()
        visitor.page.close()
