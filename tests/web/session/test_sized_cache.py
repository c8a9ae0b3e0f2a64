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
from playground.web.session.random_weights import SizedCache, size_in_bytes
from tests.model.strategies import configs, modest


@dataclass(frozen=True)
class Pair:
    """Two arrays of a run."""

    tokens: tuple[str, ...]
    arrays: dict[str, np.ndarray]


def test_the_latest_used_results_are_kept_up_to_the_bytes() -> None:
    cache, computed = SizedCache(2_500), []

    @cache
    def zeros(n: int) -> np.ndarray:
        computed.append(n)
        return np.zeros(n, np.uint8)

    for n in (1_000, 1_001, 1_000, 1_002):  # the third is known, the fourth drives out 1_001
        assert zeros(n).nbytes == n
    assert (computed, cache.size) == ([1_000, 1_001, 1_002], 2_002)
    zeros(1_000)
    zeros(1_001)
    assert computed == [1_000, 1_001, 1_002, 1_001]
    assert zeros(3_000).nbytes == zeros(3_000).nbytes == 3_000  # larger than the cache: handed over, and not kept
    assert computed[-2:] == [3_000, 3_000]
    assert cache.size <= 2_500
    cache.clear()
    assert cache.size == 0


def test_two_functions_share_a_cache_without_mixing_their_results() -> None:
    cache = SizedCache(100)

    @cache
    def double(n: int) -> int:
        return 2 * n

    @cache
    def square(n: int) -> int:
        return n * n

    assert (double(5), square(5), double(5), square(5)) == (10, 25, 10, 25)


def test_what_many_ask_for_at_once_is_computed_once_and_an_error_is_not_kept() -> None:
    cache, computed, together = SizedCache(100), [], threading.Barrier(5)
    answers: list[object] = []

    @cache
    def compute(fails: bool) -> str:
        computed.append(fails)
        if fails:
            raise ValueError("as asked")
        threading.Event().wait(0.1)  # the others come meanwhile
        return "done"

    def ask() -> None:
        together.wait()
        answers.append(compute(False))

    threads = [threading.Thread(target=ask) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (answers, computed) == (["done"] * 5, [False])
    for _ in range(2):
        with pytest.raises(ValueError, match="as asked"):
            compute(True)
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
