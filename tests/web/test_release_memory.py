"""What happens once all visitors have left; with a real server and its memory in tests/browser/test_faults.py."""

import weakref
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.runtime.memory_session_storage import MemorySessionStorage

from playground.web import release_memory


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
        monkeypatch.setattr(release_memory, "get_instance", lambda runtime=runtime: runtime)
        del session
        assert reference() is not None, "Streamlit itself waits for the next visitor to leave"
        release_memory.drop_expired_sessions()
        assert (reference() is not None) == is_kept
