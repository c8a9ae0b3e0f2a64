"""What the tests of uploads and of trained networks share."""

import gc
from collections.abc import Callable, Iterator
from typing import Any
from weakref import WeakSet

import pytest
from streamlit.runtime.caching import clear_session_resource_cache

from playground import Encoder
from playground.runs import encoder_run
from playground.runs.encoder_run import Run
from playground.web.session.services import services
from tests.web.app_test import SESSION


@pytest.fixture(autouse=True)
def _new_visitor() -> Iterator[None]:
    """Nothing is cached for the session, before the test or after."""
    clear_session_resource_cache(SESSION)
    yield
    clear_session_resource_cache(SESSION)


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Encoder, Run]]:
    """Every run of the app from now on that keeps all layers: the encoder and what it did."""
    made: list[tuple[Encoder, Run]] = []
    run = encoder_run.run

    def recorded(encoder: Encoder, *args: Any, **kwargs: Any) -> Run:
        result = run(encoder, *args, **kwargs)
        if "keep" not in kwargs:
            made.append((encoder, result))
        return result

    monkeypatch.setattr(encoder_run, "run", recorded)
    return made


@pytest.fixture
def n_memory_users() -> Callable[[], int]:
    """How many uploads and networks take memory that did not before the test: what an earlier one left may go."""
    before = WeakSet(services().memory.users)

    def count() -> int:
        gc.collect()
        return sum(user not in before for user in services().memory.users)

    return count
