"""Results are kept once for all, weights by their owner, and what is random is made anew."""

import copy
import pickle
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
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

from playground import Encoder, ModelConfig, count_parameters
from playground.errors import UnavailableError
from playground.link.state import EVERYBODY, MINILM, RANDOM, Owner, RunKey, TextKey, WeightsId
from playground.model.init import InitialTensor, draw
from playground.runs.budget import interruptible
from playground.web.choices.setup import setup_of
from playground.web.session import caches, result_cache, uploaded_files, weights_cache
from playground.web.session.result_cache import CacheKey, FunctionCaches, RandomWeights, ResultCache, size_in_bytes
from playground.web.session.services import other_services
from playground.web.session.uploaded_files import UploadedWeights
from playground.web.session.weights_cache import (
    TRANSLATOR,
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


def test_encoders_that_differ_in_a_slider_share_the_memory_of_the_rest() -> None:
    small = ModelConfig(vocab_size=50, d_model=16, n_heads=2, n_layers=1, d_ff=32, max_len=8)
    shallow = caches.encoder("random", small, 0)
    deep = caches.encoder("random", replace(small, n_heads=4, n_layers=2), 0)
    other_seed = caches.encoder("random", small, 1)
    places, deep_places, other_places = (
        {name: parameter.data_ptr() for name, parameter in model.named_parameters()}
        for model in (shallow, deep, other_seed)
    )
    assert places.items() <= deep_places.items()
    assert places["layers.0.attn.q.weight"] != other_places["layers.0.attn.q.weight"]


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
    upload = UploadedWeights("model.safetensors", "0f3a", {}, SimpleNamespace(settings={"vocab_size": 0}), None)  # type: ignore[arg-type]
    monkeypatch.setattr(
        "playground.web.choices.setup.own_weights", lambda each: upload if each["weights"] == "mine" else None
    )
    monkeypatch.setattr(uploaded_files, "own_tokenizer_key", lambda: "")
    with sessions.of("Ann") as ann:
        owners = {choice: setup_of(DEFAULTS | {"weights": choice}).weights.owner() for choice in ("minilm", "random")}
        mine = setup_of(DEFAULTS | {"weights": "mine"}).weights
    assert set(owners.values()) == {EVERYBODY}
    assert (mine, mine.owner()) == ("0f3a", ann)
    text = TextKey("char", 0, 8, ("ab",))
    with sessions.of("Bob"), pytest.raises(UnavailableError):
        caches.run_sentence(RunKey(text, 0, mine, ModelConfig(vocab_size=9), 0, causal=False))
    for copied in (copy.deepcopy(mine), pickle.loads(pickle.dumps(mine))):
        assert (copied, copied.owner()) == (mine, ann)


SMALL = ModelConfig(vocab_size=500, d_model=64, n_heads=2, n_layers=1, d_ff=128, max_len=8, positions="learned")
DEEP = replace(SMALL, n_layers=2)
BYTES = 4 * count_parameters(SMALL).total
SPARE = 60_000
"""What an encoder's modules take, and more."""


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tensors that are drawn, by name."""
    names: list[str] = []

    def count(tensor: InitialTensor, seed: int) -> torch.Tensor:
        names.append(tensor.name)
        return draw(tensor, seed)

    monkeypatch.setattr(result_cache, "draw", count)
    return names


def kept(max_bytes: int) -> RandomWeights:
    return RandomWeights(max_bytes, lambda: torch.device("cpu"))


def test_tensors_that_encoders_share_are_drawn_and_counted_once(drawn: list[str]) -> None:
    weights = kept(10**9)
    small = weights.encoder(SMALL, 0)
    assert weights.size == pytest.approx(BYTES, abs=SPARE)
    n_drawn = len(drawn)
    assert weights.encoder(SMALL, 0) is small
    deep = weights.encoder(DEEP, 0)
    assert all(name.startswith("layers.1.") for name in drawn[n_drawn:])
    assert weights.size == pytest.approx(4 * count_parameters(DEEP).total, abs=2 * SPARE)
    assert (weights.hits, weights.misses) == (1, 2)
    places = [dict(model.named_parameters())["layers.0.attn.q.weight"].data_ptr() for model in (small, deep)]
    assert places[0] == places[1]


@pytest.mark.long
def test_those_used_longest_ago_go_and_what_others_share_with_them_stays(drawn: list[str]) -> None:
    weights = kept(int(3.5 * BYTES))
    first, *_ = (weights.encoder(SMALL, seed) for seed in range(3))
    weights.encoder(SMALL, 0)
    weights.encoder(SMALL, 3)  # seed 1 goes
    n_drawn = len(drawn)
    assert weights.encoder(SMALL, 0) is first
    weights.encoder(SMALL, 2)
    assert len(drawn) == n_drawn
    weights.encoder(SMALL, 1)
    assert len(drawn) > n_drawn
    assert weights.size <= 3.5 * BYTES

    alone = kept(int(1.9 * BYTES))
    alone.encoder(SMALL, 0)
    alone.encoder(replace(SMALL, n_heads=4), 0)  # the same tensors
    n_drawn = len(drawn)
    alone.encoder(replace(SMALL, activation="relu"), 0)
    alone.encoder(SMALL, 0)
    assert len(drawn) == n_drawn


@pytest.mark.parametrize("max_bytes", [1, BYTES])
def test_two_models_are_kept_whatever_they_take_and_never_more(max_bytes: int, drawn: list[str]) -> None:
    """As on a page with pinned settings, which goes back and forth between both."""
    weights = kept(max_bytes)
    pair = [weights.encoder(SMALL, seed) for seed in (0, 1)]
    n_drawn = len(drawn)
    for _ in range(3):
        assert [weights.encoder(SMALL, seed) for seed in (0, 1)] == pair
    assert len(drawn) == n_drawn
    for seed in range(2, 6):
        weights.encoder(SMALL, seed)
        assert weights.size <= 2 * (BYTES + SPARE)


def test_nothing_stays_of_an_encoder_for_which_memory_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail_at_the_third() -> Callable[..., torch.Tensor]:
        calls = iter(range(100))

        def failing(tensor: InitialTensor, seed: int) -> torch.Tensor:
            if next(calls) == 3:
                raise MemoryError
            return draw(tensor, seed)

        return failing

    weights = kept(10**9)
    with monkeypatch.context() as patch:
        patch.setattr(result_cache, "draw", fail_at_the_third())
        with pytest.raises(MemoryError):
            weights.encoder(SMALL, 0)
    assert weights.size == 0
    expected = Encoder(SMALL, 0).state_dict()
    for name, tensor in weights.encoder(SMALL, 0).state_dict().items():
        assert torch.equal(tensor, expected[name]), name
    weights.clear()
    assert weights.size == 0


def test_copies_of_fused_projections_count() -> None:
    weights, fused = kept(10**9), replace(SMALL, fused_qkv=True)
    weights.encoder(fused, 0)
    held = 3 * 64 * 64 * 4
    assert weights.size >= BYTES + held


def test_who_finds_an_encoder_does_not_wait_for_one_that_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    weights, drawing, go_on = kept(10**9), threading.Event(), threading.Event()
    small = weights.encoder(SMALL, 0)

    def draw_slowly(tensor: InitialTensor, seed: int) -> torch.Tensor:
        drawing.set()
        assert go_on.wait(30)
        return draw(tensor, seed)

    monkeypatch.setattr(result_cache, "draw", draw_slowly)
    made: list[Encoder] = []
    threads = [threading.Thread(target=lambda: made.append(weights.encoder(DEEP, 1))) for _ in range(2)]
    for thread in threads:
        thread.start()
    assert drawing.wait(30)
    assert weights.encoder(SMALL, 0) is small
    assert weights.n_missing(SMALL, 0) == 0
    assert weights.n_missing(DEEP, 1) == count_parameters(DEEP).total
    go_on.set()
    for thread in threads:
        thread.join(30)
    assert made[0] is made[1]
    assert weights.size == pytest.approx(BYTES + 4 * count_parameters(DEEP).total, abs=2 * SPARE)


def test_an_encoder_that_nobody_wants_any_more_takes_no_memory(drawn: list[str]) -> None:
    weights = kept(10**9)
    weights.encoder(SMALL, 0)
    before = weights.size

    class LeftError(Exception):
        """As what Streamlit ends a run with."""

    def check() -> None:
        if len(drawn) > len(set(drawn)) + 3:
            raise LeftError

    with pytest.raises(LeftError), interruptible(check):
        weights.encoder(SMALL, 1)
    assert weights.size == before
    pairs = zip(weights.encoder(SMALL, 1).parameters(), Encoder(SMALL, 1).parameters(), strict=True)
    assert all(torch.equal(one, other) for one, other in pairs)
