"""What happens before the first visitor comes and after the last; with real servers in tests/browser/test_faults.py."""

import asyncio
import contextlib
import gc
import logging
import sys
import weakref
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.runtime.memory_session_storage import MemorySessionStorage

from playground.errors import BusyError
from playground.web import start
from playground.web.server.settings import Settings
from playground.web.session.result_cache import CacheKey
from playground.web.session.services import build_services
from tests.waiting import run_coroutine


@pytest.fixture(autouse=True)
def _thawed() -> None:
    """Nothing is frozen before a test."""
    gc.unfreeze()


@pytest.fixture(scope="module", autouse=True)
def _frozen_for_other_tests() -> Iterator[None]:
    yield
    gc.collect()
    gc.freeze()


@pytest.mark.long
def test_every_module_is_loaded_and_frozen_but_the_main_script_does_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = []
    monkeypatch.setattr(start, "checkpoint_available", lambda: loaded.append(gc.get_freeze_count()))
    start.prepare()
    assert loaded == [0], "the default model is loaded once, and frozen with the rest"
    assert {"playground.web.components.charts", "playground.views.norms"} <= sys.modules.keys()
    assert "playground.web.app" not in sys.modules
    assert gc.get_freeze_count() > 50_000


@pytest.mark.long
def test_garbage_made_later_is_still_collected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start, "checkpoint_available", lambda: None)
    start.prepare()
    circle: list[object] = []
    circle.append(circle)
    del circle
    assert gc.collect() >= 1


def test_a_model_that_cannot_be_loaded_is_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise OSError("as asked")

    monkeypatch.setattr(start, "checkpoint_available", fail)
    with pytest.raises(OSError, match="as asked"):
        start.prepare()


def test_the_speed_is_measured_ahead_and_a_failure_is_logged_alone(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    measured = []
    monkeypatch.setattr(start, "machine_speed", lambda: measured.append(True))
    run_coroutine(start.prepare_training(after=0))
    assert measured == [True]

    def fail() -> None:
        raise BusyError("as asked")

    monkeypatch.setattr(start, "machine_speed", fail)
    run_coroutine(start.prepare_training(after=0))
    assert [record.levelname for record in caplog.records] == ["ERROR"]


class Stored:
    """What Streamlit stores of a session, as far as its storage reads it."""

    session = SimpleNamespace(id="one")


def test_a_session_that_nobody_can_come_back_to_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    for seconds, is_kept in ((0, False), (60, True)):
        storage = MemorySessionStorage(ttl_seconds=seconds)
        session: Any = Stored()
        reference = weakref.ref(session)
        storage.save(session)
        runtime = SimpleNamespace(_session_mgr=SimpleNamespace(_session_storage=storage))
        monkeypatch.setattr(start, "exists", lambda: True)
        monkeypatch.setattr(start, "get_instance", lambda runtime=runtime: runtime)
        del session
        assert reference() is not None, "Streamlit itself waits for the next visitor to leave"
        start.drop_expired_sessions()
        assert (reference() is not None) == is_kept


@pytest.mark.long
def test_what_cannot_be_released_is_in_the_log_and_in_the_readiness_from_the_start(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    here = build_services(Settings())
    here.results.find(CacheKey(abs, 5), lambda: "a result")
    monkeypatch.setattr(start, "exists", lambda: True)
    monkeypatch.setattr(start, "get_instance", SimpleNamespace)  # a version that keeps sessions elsewhere

    async def try_at_the_start() -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(start.release_when_empty(here), 0.01)

    with caplog.at_level(logging.ERROR):
        run_coroutine(try_at_the_start())
    assert "expired sessions" in str(here.readiness.release_failure)
    assert "expired sessions" in caplog.text
    assert here.results.size > 0
    with pytest.raises(RuntimeError, match="expired sessions"):
        start.release_memory(here)
    assert here.results.size == 0, "all else is released"
