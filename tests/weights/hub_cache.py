"""A cache of the model hub, as huggingface_hub lays it out, with small checkpoints in it."""

import shutil
from pathlib import Path

import pytest
from huggingface_hub import constants

FAMILIES = Path(__file__).parents[1] / "data" / "families"
NAME, REVISION = "google/bert_uncased_L-2_H-128_A-2", "0" * 40


def use_cache(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make this machine's cache a folder, without downloads; return where its model would be."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(folder))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    return folder / f"models--{NAME.replace('/', '--')}" / "snapshots" / REVISION


def fill(place: Path, kind: str = "bert") -> None:
    shutil.copytree(FAMILIES / kind, place, dirs_exist_ok=True)
    (place.parents[1] / "refs").mkdir(exist_ok=True)
    (place.parents[1] / "refs" / "main").write_text(REVISION)
