"""What happens before the first visitor comes."""

import gc
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from playground.errors import BusyError
from playground.web import start
from tests.waiting import run_coroutine


@pytest.fixture(autouse=True)
def _thawed() -> Iterator[None]:
    """Nothing is frozen before or after."""
    gc.unfreeze()
    yield
    gc.unfreeze()


def test_every_module_is_loaded_and_frozen_but_the_main_script_does_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = []
    monkeypatch.setattr(start, "checkpoint_available", lambda: loaded.append(gc.get_freeze_count()))
    start.prepare()
    assert loaded == [0], "the default model is loaded once, and frozen with the rest"
    assert {"playground.web.components.head_lines", "playground.figures.norms"} <= sys.modules.keys()
    assert "playground.web.app" not in sys.modules
    assert gc.get_freeze_count() > 50_000


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


def test_no_visitor_waits_for_what_only_trainings_need(repository: Path) -> None:
    program = """
import asyncio, sys
from playground.web import start
start.prepare()
before = "torch._dynamo" in sys.modules
asyncio.run(start.prepare_training(after=0))
print(before, "torch._dynamo" in sys.modules)
"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.splitlines()[-1] == "False True"


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
