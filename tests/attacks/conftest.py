"""The app in a process of its own, on a machine without a network, for clients that mean it harm."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.server import Server, serve


@pytest.fixture(scope="session")
def connections(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file that has a line for each time the server turned to another machine."""
    file = tmp_path_factory.mktemp("connections") / "connections"
    file.touch()
    return file


@pytest.fixture(scope="session")
def target(tmp_path_factory: pytest.TempPathFactory, connections: Path) -> Iterator[Server]:
    """The app as it is, with the settings of a class's server."""
    with serve(
        tmp_path_factory.mktemp("target"),
        "-m",
        "tests.browser.offline_server",
        CONNECTIONS=str(connections),
        PLAYGROUND_MAX_TRAININGS="1",
    ) as running:
        yield running
