"""Caches bounded in bytes, and the random weights that encoders share in one."""

import threading
from dataclasses import dataclass, replace

import numpy as np
import plotly.graph_objects as go
import pytest
import torch
from hypothesis import given

from playground import Encoder, ModelConfig
from playground.web.session import caches
from playground.web.session.result_cache import EVERYBODY, CacheKey, Owner, ResultCache, size_in_bytes
from tests.model.strategies import configs, modest
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


@modest
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
