"""A real browser in front of the real server. Without a browser these tests fail: they are never skipped."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ViewportSize

from tests.browser.server import Server, serve
from tests.browser.visitor import Visitor


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give every test in the browser a second try, which the summary names.

    It waits for a browser and a server in real time: on a busy machine, a wait may be too short.
    """
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The app as it is."""
    with serve(tmp_path_factory.mktemp("server"), "-m", "streamlit", "run") as running:
        yield running


@pytest.fixture(scope="session")
def bare_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The app on a machine without the trained weights."""
    folder: Path = tmp_path_factory.mktemp("bare_server")
    with serve(folder, "-m", "tests.browser.without_weights", HF_HOME=str(folder)) as running:
        yield running


@pytest.fixture(scope="session")
def shared_context(browser: Browser) -> BrowserContext:
    """One cache for most tests: each page in it is a visitor's session of its own all the same."""
    return browser.new_context(viewport={"width": 1366, "height": 900})


@pytest.fixture
def visitor(server: Server, shared_context: BrowserContext) -> Iterator[Visitor]:
    """A visitor who must see nothing go wrong."""
    yield from _visit(server, shared_context)


@pytest.fixture
def newcomer(server: Server, browser: Browser) -> Iterator[Callable[..., Visitor]]:
    """Makes visitors in fresh contexts, as `Visitor.anew` takes them; they must see nothing go wrong either."""
    visitors: list[Visitor] = []

    def make(width: int = 1280, height: int = 900, **context: Any) -> Visitor:
        visitors.append(Visitor.anew(server, browser, width, height, **context))
        return visitors[-1]

    yield make
    for visitor in visitors:
        visitor.assert_well()
        visitor.page.context.close()


@pytest.fixture
def classmate(server: Server, shared_context: BrowserContext) -> Iterator[Visitor]:
    """A second visitor, who follows a link of the first."""
    yield from _visit(server, shared_context)


@pytest.fixture(scope="session")
def phone_context(browser: Browser) -> BrowserContext:
    """A phone: a small window, and a finger instead of a mouse."""
    size: ViewportSize = {"width": 390, "height": 844}
    return browser.new_context(viewport=size, has_touch=True, is_mobile=True, device_scale_factor=2)


@pytest.fixture
def phone(server: Server, phone_context: BrowserContext) -> Iterator[Visitor]:
    """A visitor with a phone."""
    yield from _visit(server, phone_context)


def _visit(server: Server, context: BrowserContext) -> Iterator[Visitor]:
    """A page in a context that others share; nothing may have gone wrong on it when the test ends."""
    visitor = Visitor(server, context)
    yield visitor
    visitor.assert_well()
    visitor.page.close()
