"""What every test may rely on."""

from pathlib import Path

import pytest
from hypothesis import settings

# The same examples on every machine, and no deadline: a slow machine must not turn a true property false.
settings.register_profile("playground", derandomize=True, deadline=None, max_examples=50)
settings.load_profile("playground")


@pytest.fixture(scope="session")
def repository() -> Path:
    """The folder that holds the whole project."""
    return Path(__file__).resolve().parent.parent
