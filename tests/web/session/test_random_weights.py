"""Random weights are drawn once for all encoders that have them, and kept in bytes that are counted once."""

import threading
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from playground import Encoder, ModelConfig, count_parameters
from playground.model.init import InitialTensor, draw
from playground.runs.budget import interruptible
from playground.web.session import random_weights
from playground.web.session.random_weights import RandomWeights

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

    monkeypatch.setattr(random_weights, "draw", count)
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
        patch.setattr(random_weights, "draw", fail_at_the_third())
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

    monkeypatch.setattr(random_weights, "draw", draw_slowly)
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
