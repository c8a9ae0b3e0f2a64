"""Results are kept once for all, or by their owner; encoders with random weights share tensors."""

import copy
import pickle
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import make_dataclass
from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from playground import ModelConfig
from playground.errors import UnavailableError
from playground.link.state import EVERYBODY, MINILM, RANDOM, TRANSLATOR, Owner, RunKey, TextKey, WeightsId
from playground.runs.budget import interruptible
from playground.web.choices.setup import lab_of
from playground.web.session import caches
from playground.web.session import services as services_module
from playground.web.session.own_models import UploadedWeights
from playground.web.session.services import ResultCache, size_in_bytes, this_session
from tests.link.test_params import DEFAULTS

TEXT = TextKey("char", 0, 8, ("ab",))


class LeftError(Exception):
    """As what Streamlit ends a run with."""


def leave() -> None:
    raise LeftError


def test_the_latest_used_results_are_kept_up_to_the_bytes() -> None:
    cache, computed = ResultCache(4_000), []

    def find(n: int) -> np.ndarray:
        return cache.find(n, lambda: computed.append(n) or np.zeros(n, np.uint8))  # type: ignore[func-returns-value]

    for n in (100, 200, 100, 300, 400, 100, 5_000, 5_000, 200):  # each takes 1,000 bytes more; 200 was used longest ago
        assert len(find(n)) == n
    assert computed == [100, 200, 300, 400, 5_000, 5_000, 200]
    assert cache.n_bytes <= 4_000
    cache.clear()
    assert cache.n_bytes == 0


@pytest.mark.parametrize("leaves", [False, True])
def test_equal_work_is_done_once_and_whoever_waits_takes_over_where_it_fails(leaves: bool) -> None:
    cache, computing, go_on, found = ResultCache(100), threading.Event(), threading.Event(), list[int]()

    def compute() -> int:
        if not computing.is_set():
            computing.set()
            assert go_on.wait(30)
            if leaves:
                raise LeftError
        return len(found)

    def first() -> None:
        if leaves:
            with pytest.raises(LeftError):
                cache.find("key", compute)
        else:
            assert cache.find("key", compute) == 0

    threads = [threading.Thread(target=first)]
    threads[0].start()
    assert computing.wait(30)
    with pytest.raises(LeftError), interruptible(leave):  # who waits may leave
        cache.find("key", compute)
    threads += [threading.Thread(target=lambda: found.append(cache.find("key", compute))) for _ in range(3)]
    for thread in threads[1:]:
        thread.start()
    go_on.set()
    for thread in threads:
        thread.join(30)
    assert found == [0, 0, 0]


def test_sizes_count_arrays_tensors_and_texts() -> None:
    arrays = {"pattern": np.zeros((12, 800), np.float32), "mask": np.zeros(8, bool)}
    run = make_dataclass("Pair", ("tokens", "arrays"))(("[CLS]", "it"), arrays)
    for value, size in ((run, 12 * 800 * 4), (torch.zeros(100, 100), 40_000), (torch.nn.Linear(100, 100), 40_400)):
        assert size_in_bytes(value) == pytest.approx(size, abs=3_100)


class Sessions:
    """Visitors, of whom one asks at a time; each has what Streamlit would keep in that session's cache."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asking = ""
        self.caches: defaultdict[str, ResultCache] = defaultdict(lambda: ResultCache(10**6))
        context = lambda **_: SimpleNamespace(session_id=self.asking)  # noqa: E731
        monkeypatch.setattr(services_module, "get_script_run_ctx", context)
        monkeypatch.setattr(caches, "session_results", lambda: self.caches[self.asking])

    @contextmanager
    def of(self, name: str) -> Iterator[Owner]:
        self.asking = name
        yield this_session()


@pytest.fixture
def sessions(monkeypatch: pytest.MonkeyPatch) -> Sessions:
    return Sessions(monkeypatch)


def run_key(weights: WeightsId) -> RunKey:
    return RunKey(TEXT, 0, weights, ModelConfig(vocab_size=9), 0, causal=False)


@pytest.mark.parametrize("weights", [MINILM, RANDOM, TRANSLATOR, None])
def test_what_is_everybodys_is_computed_once_for_all_and_nothing_else_is_shared(
    sessions: Sessions, weights: WeightsId | None
) -> None:
    """Two visitors' uploads of one name have equal keys."""
    computed, names, found = count(), dict[str, WeightsId](), dict[str, list[int]]()

    def remember(weights: WeightsId) -> list[int]:
        keys = (weights, run_key(weights), (run_key(weights), 2))
        return [caches.APP.remember(remember, key, lambda: next(computed)) for key in (*keys, *keys)]

    for name in ("Ann", "Bob"):
        with sessions.of(name) as owner:
            names[name] = weights or WeightsId("model.safetensors", owner)
            found[name] = remember(names[name])
    assert names["Ann"] == names["Bob"]
    assert (found["Ann"] == found["Bob"]) == (weights is not None)
    assert all(len(set(numbers)) == 3 for numbers in found.values())
    with sessions.of("Bob"):
        if weights is None:
            with pytest.raises(UnavailableError):
                remember(names["Ann"])


def test_a_setup_says_whose_its_weights_are(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    upload = UploadedWeights("model.safetensors", "0f3a", {}, SimpleNamespace(settings={"vocab_size": 0}), None)  # type: ignore[arg-type]
    own = lambda each: upload if each["weights"] == "mine" else None  # noqa: E731
    monkeypatch.setattr("playground.web.choices.setup.own_weights", own)
    with sessions.of("Ann") as ann:
        for choice, owner in (("minilm", EVERYBODY), ("random", EVERYBODY), ("mine", ann)):
            weights = lab_of(DEFAULTS | {"weights": choice}).weights
            for copied in (weights, copy.deepcopy(weights), pickle.loads(pickle.dumps(weights))):
                assert (copied, copied.owner()) == (weights, owner)
    with sessions.of("Bob"), pytest.raises(UnavailableError):
        caches.run_sentence(run_key(weights))
