"""The store: what is kept comes back, the first file stays, a broken one is made again, and it is bounded."""

import logging
import os
import threading
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import torch

from playground.language.network import BASE, EnglishNetwork, Spec, load, save
from playground.weights.store import NetworkStore

SMALL = Spec(replace(BASE, d_model=8, n_heads=2, d_ff=16, n_layers=1))


def untrained(seed: int = 0, shares: float = 0.5) -> EnglishNetwork:
    spec = replace(SMALL, seed=seed)
    return EnglishNetwork(spec, spec.build().half().float().requires_grad_(False), {"recall": shares})


def keep(store: NetworkStore, trained: EnglishNetwork) -> None:
    store.keep(trained.spec.key, save(trained))


def find(store: NetworkStore, spec: Spec) -> EnglishNetwork | None:
    return store.find(spec.key, partial(load, spec=spec))


def test_what_is_kept_comes_back_in_another_process_too(tmp_path: Path) -> None:
    trained = untrained()
    keep(NetworkStore(tmp_path / "new" / "folder"), trained)
    found = find(NetworkStore(tmp_path / "new" / "folder"), SMALL)
    assert found is not None
    assert (found.spec, found.shares) == (SMALL, {"recall": 0.5})
    assert torch.equal(found.network.head.weight, trained.network.head.weight)
    assert find(NetworkStore(tmp_path), SMALL) is None
    assert find(NetworkStore(tmp_path / "new" / "folder"), replace(SMALL, seed=1)) is None


def test_the_first_file_stays_and_nothing_else_is_left(tmp_path: Path) -> None:
    store = NetworkStore(tmp_path)
    threads = [threading.Thread(target=keep, args=(store, untrained(shares=i / 10))) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    first = store.path(SMALL.key).read_bytes()
    keep(store, untrained(shares=0.9))
    assert store.path(SMALL.key).read_bytes() == first
    assert [path.name for path in tmp_path.iterdir()] == [store.path(SMALL.key).name]


@pytest.mark.parametrize("content", [b"", b"junk" * 100, save(untrained(seed=1))])
def test_a_broken_or_foreign_file_is_refused_and_made_again(
    content: bytes, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = NetworkStore(tmp_path)
    store.path(SMALL.key).write_bytes(content)
    with caplog.at_level(logging.WARNING):
        assert find(store, SMALL) is None
    assert "will be made again" in caplog.text
    assert not store.path(SMALL.key).exists()
    keep(store, untrained())
    assert find(store, SMALL) is not None


def test_the_least_lately_used_go_where_there_is_no_room(tmp_path: Path) -> None:
    store = NetworkStore(tmp_path, max_bytes=int(3.5 * len(save(untrained()))))
    for seed in range(3):
        keep(store, untrained(seed))
        os.utime(store.path(replace(SMALL, seed=seed).key), (1_000 + seed, 1_000 + seed))
    assert find(store, SMALL) is not None  # used now: the second is the oldest
    keep(store, untrained(3))
    assert [store.path(replace(SMALL, seed=seed).key).exists() for seed in range(4)] == [True, False, True, True]


def test_a_folder_that_cannot_be_written_is_said_and_stops_nobody(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("no folder")
    store = NetworkStore(tmp_path / "file" / "networks")
    with caplog.at_level(logging.WARNING):
        keep(store, untrained())
    assert "can't be kept" in caplog.text
    assert find(store, SMALL) is None
