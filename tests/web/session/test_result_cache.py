"""Results are kept once for all, weights by their owner, and what is random is made anew."""

import copy
import pickle
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
import pytest
import torch
from hypothesis import given

from playground import Encoder, ModelConfig
from playground.errors import UnavailableError
from playground.web.choices.setup import setup_of
from playground.web.session import caches, uploaded_files, weights_cache
from playground.web.session.result_cache import (
    EVERYBODY,
    CacheKey,
    FunctionCaches,
    Owner,
    ResultCache,
    size_in_bytes,
)
from playground.web.session.services import other_services
from playground.web.session.uploaded_files import UploadedWeights
from playground.web.session.weights_cache import (
    MINILM,
    RANDOM,
    TRANSLATOR,
    WeightsId,
    cache_by_weights,
    cache_for_everybody,
    common_owner,
    this_session,
)
from tests.link.test_params import DEFAULTS
from tests.model.strategies import configs
from tests.waiting import until


@dataclass(frozen=True)
class Pair:
    """Two arrays of a run."""

    tokens: tuple[str, ...]
    arrays: dict[str, np.ndarray]


def test_the_latest_used_results_are_kept_up_to_the_bytes() -> None:
    cache, computed = ResultCache(2_500, size_in_bytes), []

    def find(n: int) -> np.ndarray:
        def compute() -> np.ndarray:
            computed.append(n)
            return np.zeros(n, np.uint8)

        return cache.find(CacheKey(find, n), compute)

    for n in (1_000, 1_001, 1_000, 1_002):  # the third is known, the fourth drives out 1_001
        assert find(n).nbytes == n
    assert (computed, cache.size, cache.hits, cache.misses) == ([1_000, 1_001, 1_002], 2_002, 1, 3)
    find(1_000)
    find(1_001)
    assert computed == [1_000, 1_001, 1_002, 1_001]
    assert find(3_000).nbytes == find(3_000).nbytes == 3_000  # larger than the cache: handed over, and not kept
    assert computed[-2:] == [3_000, 3_000]
    assert cache.size <= 2_500
    cache.clear()
    assert cache.size == 0


def test_a_result_belongs_to_a_function_its_arguments_and_an_owner() -> None:
    cache = ResultCache(100)
    keys = [
        CacheKey(function, n, owner) for function in (abs, int) for n in (5, 6) for owner in (EVERYBODY, Owner("Ann"))
    ]
    for i, key in enumerate(keys):
        assert cache.find(key, lambda i=i: i) == i  # type: ignore[misc]
    assert [cache.find(replace(key), lambda: -1) for key in keys] == list(range(8))


def test_a_result_is_computed_anew_after_its_time() -> None:
    cache, key = ResultCache(100, seconds=0.01), CacheKey(abs, 5)
    assert cache.find(key, lambda: 1) == 1
    until(lambda: cache.find(key, lambda: 2) == 2)


def test_what_many_ask_for_at_once_is_computed_once_and_an_error_is_not_kept() -> None:
    cache, computed, together = ResultCache(100), [], threading.Barrier(5)
    answers: list[object] = []

    def compute(fails: bool) -> str:
        computed.append(fails)
        if fails:
            raise ValueError("as asked")
        threading.Event().wait(0.1)  # the others come meanwhile
        return "done"

    def ask() -> None:
        together.wait()
        answers.append(cache.find(CacheKey(compute, False), lambda: compute(False)))

    threads = [threading.Thread(target=ask) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (answers, computed) == (["done"] * 5, [False])
    for _ in range(2):
        with pytest.raises(ValueError, match="as asked"):
            cache.find(CacheKey(compute, True), lambda: compute(True))
    assert computed == [False, True, True]


def test_sizes_count_arrays_tensors_texts_and_figures() -> None:
    run = Pair(("[CLS]", "it"), {"pattern": np.zeros((12, 8), np.float32), "mask": np.zeros(8, bool)})
    assert size_in_bytes(run) == pytest.approx(12 * 8 * 4 + 8 + 7, abs=1_100)
    assert size_in_bytes(torch.zeros(10, 10)) == 400
    assert size_in_bytes(torch.nn.Linear(10, 10)) == pytest.approx(440, abs=1_100)
    drawn = [size_in_bytes(go.Figure(go.Heatmap(z=np.zeros((n, n), np.float32)))) for n in (0, 100)]
    assert drawn[1] - drawn[0] >= 40_000


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
        self.caches: defaultdict[str, FunctionCaches] = defaultdict(FunctionCaches)
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


def test_services_of_their_own_have_caches_of_their_own(sessions: Sessions) -> None:
    @cache_for_everybody(max_entries=1)
    def compute() -> object:
        return object()

    before = compute()
    with other_services(few_results=FunctionCaches()):
        assert compute() is not before
    assert compute() is before


def test_a_setup_says_whose_its_weights_are(sessions: Sessions, monkeypatch: pytest.MonkeyPatch) -> None:
    upload = UploadedWeights("model.safetensors", "0f3a", {}, None, None)  # type: ignore[arg-type]
    monkeypatch.setattr(
        "playground.web.choices.setup.own_weights", lambda each: upload if each["weights"] == "mine" else None
    )
    monkeypatch.setattr(uploaded_files, "own_tokenizer_key", lambda: "")
    with sessions.of("Ann") as ann:
        owners = {choice: setup_of(DEFAULTS | {"weights": choice}).weights.owner() for choice in ("minilm", "random")}
        mine = setup_of(DEFAULTS | {"weights": "mine"}).weights
    assert set(owners.values()) == {EVERYBODY}
    assert (mine, mine.owner()) == ("0f3a", ann)
    text = caches.TextKey("char", 0, 8, ("ab",))
    with sessions.of("Bob"), pytest.raises(UnavailableError):
        caches.run_sentence(caches.RunKey(text, 0, mine, ModelConfig(vocab_size=9), 0, causal=False))
    for copied in (copy.deepcopy(mine), pickle.loads(pickle.dumps(mine))):
        assert (copied, copied.owner()) == (mine, ann)
