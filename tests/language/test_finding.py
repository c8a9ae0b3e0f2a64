"""Finding a network: the shipped one before the stored one."""

import hashlib
import logging
from dataclasses import replace
from pathlib import Path

import pytest

from playground.language import family
from playground.language.family import Row, find_network
from playground.language.network import BASE, EnglishNetwork, Spec, save
from playground.weights.store import NetworkStore

SMALL = Spec(replace(BASE, d_model=8, n_heads=2, d_ff=16, n_layers=1), seed=5)
OTHER = replace(SMALL, seed=6)


def untrained(shares: float, spec: Spec = SMALL) -> EnglishNetwork:
    return EnglishNetwork(spec, spec.build().half().float().requires_grad_(False), {"recall": shares})


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a family that has one network."""
    content = save(untrained(0.25))
    monkeypatch.setattr(family, "FOLDER", tmp_path)
    row = Row({"recall": 0.25}, hashlib.sha256(content).hexdigest())
    monkeypatch.setattr(family, "table", lambda: {SMALL.key: row})
    path = family.path_of(SMALL)
    path.write_bytes(content)
    return path


def share(found: EnglishNetwork | None) -> float | None:
    return None if found is None else found.shares["recall"]


def test_the_shipped_network_comes_before_the_stored_one(shipped: Path, tmp_path: Path) -> None:
    store = NetworkStore(tmp_path / "store")
    store.keep(SMALL.key, save(untrained(0.75)))
    assert share(find_network(SMALL, store)) == 0.25
    assert find_network(OTHER, store) is None


@pytest.mark.parametrize("content", [None, b"", b"junk" * 100, save(untrained(0.5))])
def test_without_its_shipped_file_it_is_the_stored_one(
    content: bytes | None, shipped: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shipped.unlink()
    if content is not None:
        shipped.write_bytes(content)
    store = NetworkStore(tmp_path / "store")
    with caplog.at_level(logging.WARNING):
        assert find_network(SMALL, store) is None
    assert "A shipped network is left out: " in caplog.text
    store.keep(SMALL.key, save(untrained(0.75)))
    assert share(find_network(SMALL, store)) == 0.75
