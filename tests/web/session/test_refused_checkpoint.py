"""A trained model of which one file is not the published one: the log says which, and the app has random weights."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from playground.web.session import caches
from playground.weights import checkpoint
from tests.web.app_test import captions, open_page


@pytest.fixture
def swapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The trained model in a folder of its own, where *cat* has the id of *dog* and the reverse."""
    found = checkpoint.minilm_path()
    assert found is not None
    for name in (checkpoint.CONFIG, checkpoint.WEIGHTS):
        (tmp_path / name).symlink_to(found / name)
    content = json.loads((found / checkpoint.VOCABULARY).read_bytes())
    ids = content["model"]["vocab"]
    ids["cat"], ids["dog"] = ids["dog"], ids["cat"]
    (tmp_path / checkpoint.VOCABULARY).write_text(json.dumps(content), encoding="utf-8")
    monkeypatch.setattr(checkpoint, "minilm_path", lambda: tmp_path)
    forget_checkpoint()
    yield tmp_path
    forget_checkpoint()


def forget_checkpoint() -> None:
    caches._checkpoint.clear()
    caches.checkpoint_available.clear()


def test_a_swapped_vocabulary_is_refused_and_the_app_goes_on_with_random_weights(
    swapped: Path, caplog: pytest.LogCaptureFixture
) -> None:
    app = open_page("attention", text="the cat and the dog", weights="minilm")
    assert not app.exception
    assert ":orange-badge[random weights]" in captions(app)
    (message,) = [record.getMessage() for record in caplog.records if "goes on with random weights" in record.message]
    assert f"{swapped / checkpoint.VOCABULARY} is not the file that was published" in message
