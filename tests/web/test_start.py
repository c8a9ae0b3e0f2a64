"""What happens before the first visitor comes."""

import gc
import sys
from collections.abc import Iterator

import pytest

from playground.web import start


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
