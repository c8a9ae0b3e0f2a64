"""Results are kept once for all, or by their owner; encoders with random weights share tensors."""

import copy
import pickle
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import given

from playground import Encoder, ModelConfig
from playground.errors import UnavailableError
from playground.link.state import EVERYBODY, MINILM, RANDOM, TRANSLATOR, Owner, RunKey, TextKey, WeightsId
from playground.runs.budget import interruptible
from playground.web.choices.setup import lab_of
from playground.web.session import caches, uploaded_files, weights_cache
from playground.web.session.result_cache import ResultCache, size_in_bytes
from playground.web.session.services import other_services
from playground.web.session.uploaded_files import UploadedWeights
from playground.web.session.weights_cache import (
    cache_by_weights,
    cache_for_everybody,
    common_owner,
    this_session,
)
from tests.link.test_params import DEFAULTS
from tests.model.strategies import configs


@dataclass(frozen=True)
class Pair:
    """Two arrays of a run."""

    tokens: tuple[str, ...]
    arrays: dict[str, np.ndarray]


class LeftError(Exception):
    """As what Streamlit ends a run with."""


def leave() -> None:
    raise LeftError


def test_the_latest_used_results_are_kept_up_to_the_bytes() -> None:
    cache, computed = ResultCache(4_000, size_in_bytes), []

    def find(n: int) -> np.ndarray:
        return cache.find(n, lambda: computed.append(n) or np.zeros(n, np.uint8))  # type: ignore[func-returns-value]

    for n in (100, 200, 100, 300, 400, 100, 5_000, 5_000, 200):  # each takes 1,000 bytes more; 200 was used longest ago
        assert len(find(n)) == n
    assert computed == [100, 200, 300, 400, 5_000, 5_000, 200]
    assert cache.size <= 4_000
    cache.clear()
    assert cache.size == 0


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
    run = Pair(("[CLS]", "it"), {"pattern": np.zeros((12, 800), np.float32), "mask": np.zeros(8, bool)})
    for value, size in ((run, 12 * 800 * 4), (torch.zeros(100, 100), 40_000), (torch.nn.Linear(100, 100), 40_400)):
        assert size_in_bytes(value) == pytest.approx(size, abs=3_100)


@given(configs())
def test_an_encoder_of_shared_tensors_is_the_encoder_bit_by_bit(config: ModelConfig) -> None:
    shared, alone = caches.encoder("random", config, 3), Encoder(config, 3)
    assert not shared.training
    assert shared.state_dict().keys() == alone.state_dict().keys()
    for name, tensor in alone.state_dict().items():
        assert torch.equal(shared.state_dict()[name].cpu(), tensor), name
    assert not any(parameter.requires_grad for parameter in shared.parameters())


class Key(NamedTuple):
    place: int
    model: WeightsId

    def owner(self) -> Owner:
        return self.model.owner()


class Both(NamedTuple):
    one: WeightsId
    other: WeightsId

    def owner(self) -> Owner:
        return common_owner(*self)


class Sessions:
    """Visitors, of whom one asks at a time; each has what Streamlit would keep in that session's cache."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asking = ""
        self.caches: defaultdict[str, dict[object, ResultCache]] = defaultdict(dict)
        context = lambda **_: SimpleNamespace(session_id=self.asking)  # noqa: E731
        monkeypatch.setattr(weights_cache, "get_script_run_ctx", context)
        monkeypatch.setattr(weights_cache, "_session_caches", lambda: self.caches[self.asking])

    @contextmanager
    def of(self, name: str) -> Iterator[Owner]:
        self.asking = name
        yield this_session()


@pytest.fixture
def sessions(monkeypatch: pytest.MonkeyPatch) -> Sessions:
    return Sessions(monkeypatch)


def test_two_visitors_uploads_of_one_name_are_never_mixed(sessions: Sessions) -> None:
    computed = count()

    @cache_by_weights
    def compute(things: Key, factor: int) -> int:
        return next(computed)

    @cache_by_weights
    def compare(things: Both) -> int:
        return next(computed)

    ids: dict[str, WeightsId] = {}
    found: dict[str, list[int]] = {}
    for name in ("Ann", "Bob"):
        with sessions.of(name) as owner:
            mine = ids[name] = WeightsId("model.safetensors", owner)
            for _ in range(2):
                found[name] = [compute(Key(1, mine), 2), compare(Both(RANDOM, mine)), compare(Both(mine, RANDOM))]
    assert found == {"Ann": [0, 1, 2], "Bob": [3, 4, 5]}
    assert ids["Ann"] == ids["Bob"], "caches would take one for the other"
    with sessions.of("Bob"):
        for weights in (Both(RANDOM, ids["Ann"]), Both(ids["Bob"], ids["Ann"])):
            with pytest.raises(UnavailableError):
                compare(weights)
        with pytest.raises(UnavailableError):
            compute(Key(1, ids["Ann"]), 2)


@pytest.mark.parametrize("weights", [MINILM, RANDOM, TRANSLATOR])
def test_what_is_everybodys_is_computed_once_for_all(sessions: Sessions, weights: WeightsId) -> None:
    computed = count()

    @cache_by_weights
    def compute(things: Key) -> int:
        return next(computed)

    seen = set()
    for name in ("Ann", "Bob"):
        with sessions.of(name):
            seen.add(compute(Key(2, weights)))
    assert (weights.owner(), len(seen)) == (EVERYBODY, 1)


def test_other_services_have_other_results() -> None:
    compute = cache_for_everybody()(object)
    before = compute()
    with other_services(results=ResultCache(1)):
        assert compute() is not before
    assert compute() is before


def test_a_setup_says_whose_its_weights_are(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    upload = UploadedWeights("model.safetensors", "0f3a", {}, SimpleNamespace(settings={"vocab_size": 0}), None)  # type: ignore[arg-type]
    monkeypatch.setattr(
        "playground.web.choices.setup.own_weights", lambda each: upload if each["weights"] == "mine" else None
    )
    monkeypatch.setattr(uploaded_files, "own_tokenizer_key", lambda: "")
    with sessions.of("Ann") as ann:
        owners = {choice: lab_of(DEFAULTS | {"weights": choice}).weights.owner() for choice in ("minilm", "random")}
        mine = lab_of(DEFAULTS | {"weights": "mine"}).weights
    assert set(owners.values()) == {EVERYBODY}
    assert (mine, mine.owner()) == ("0f3a", ann)
    text = TextKey("char", 0, 8, ("ab",))
    with sessions.of("Bob"), pytest.raises(UnavailableError):
        caches.run_sentence(RunKey(text, 0, mine, ModelConfig(vocab_size=9), 0, causal=False))
    for copied in (copy.deepcopy(mine), pickle.loads(pickle.dumps(mine))):
        assert (copied, copied.owner()) == (mine, ann)
