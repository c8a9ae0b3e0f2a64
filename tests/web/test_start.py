"""What happens before the first visitor comes and after the last; with real servers in tests/browser/test_faults.py."""

import gc
import sys
from collections.abc import Iterator

import pytest

from playground.errors import BusyError
from playground.web import start
from tests.waiting import run_coroutine


@pytest.fixture
def thawed() -> Iterator[None]:
    """Nothing is frozen before the test, and all for those after it."""
    gc.unfreeze()
    yield
    gc.collect()
    gc.freeze()


@pytest.mark.long
@pytest.mark.usefixtures("thawed")
def test_every_module_is_loaded_and_frozen_but_the_main_script_does_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = []
    monkeypatch.setattr(start, "checkpoint_available", lambda: loaded.append(gc.get_freeze_count()))
    start.prepare()
    assert loaded == [0], "the default model is loaded once, and frozen with the rest"
    assert {"playground.web.components", "playground.views.norms"} <= sys.modules.keys()
    assert "playground.web.app" not in sys.modules
    assert gc.get_freeze_count() > 50_000


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
