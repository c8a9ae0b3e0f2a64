"""What happens once all visitors have left; with a real server and its memory in tests/browser/test_faults.py."""

import asyncio
import contextlib
import logging
import weakref
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.runtime.memory_session_storage import MemorySessionStorage

from playground.web import start
from playground.web.server.visitors import Readiness, Visitors
from tests.waiting import run_coroutine


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


def test_what_cannot_be_released_is_in_the_log_and_in_the_readiness_from_the_start(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    readiness, released = Readiness(Visitors(1)), []
    monkeypatch.setattr(start, "exists", lambda: True)
    monkeypatch.setattr(start, "get_instance", SimpleNamespace)  # a version that keeps sessions elsewhere
    monkeypatch.setattr(start, "_release_results", lambda: released.append("results"))

    async def try_at_the_start() -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(start.release_when_empty(Visitors(1), 60, readiness), 0.01)

    with caplog.at_level(logging.ERROR):
        run_coroutine(try_at_the_start())
    assert "expired sessions" in str(readiness.release_failure)
    assert "expired sessions" in caplog.text
    with pytest.raises(RuntimeError, match="expired sessions"):
        start.release_memory()
    assert released == ["results"], "all else is released"
