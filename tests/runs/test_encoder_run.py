"""One bounded pass: what a `Run` holds is what the encoder computes, and nobody can change it."""

import threading

import numpy as np
import pytest
import torch

from playground import Encoder, ModelConfig, Trace
from playground.errors import BusyError, TooLargeError
from playground.model import causal_and_padding
from playground.runs.budget import MAX_KEPT, check_kept, choose_device
from playground.runs.encoder_run import run
from playground.text import characters
from playground.web.session.turns import Turns

SENTENCES = ["a cat", "a longer cat"]
CONFIG = ModelConfig(vocab_size=characters().vocab_size, d_model=16, n_heads=4, n_layers=3, d_ff=32, max_len=16)
ENCODER = Encoder(CONFIG, seed=5)
BATCH = characters().encode_batch(SENTENCES)
LEFT_OUT = {"q", "k", "v", "scores", "z", "up", "hidden", "normalized"}


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("sentence", [0, 1])
def test_the_arrays_are_what_the_encoder_computes(sentence: int, causal: bool) -> None:
    keys = BATCH.mask[sentence : sentence + 1]
    trace = Trace()
    with torch.inference_mode():
        ENCODER(BATCH.ids[sentence : sentence + 1], causal_and_padding(keys) if causal else keys, trace)
    result = run(ENCODER, BATCH, sentence, causal=causal)
    assert set(trace) - set(result.arrays) == {name for name in trace if name.split(".")[-1] in LEFT_OUT}
    for name, array in result.arrays.items():
        assert np.array_equal(array, trace[name][0].numpy()), name
    assert result.config == CONFIG
    assert result.device == "cpu"
    assert 0 < result.seconds < 60


def test_patterns_are_every_layers_attention() -> None:
    result = run(ENCODER, BATCH, 1)
    patterns = result.patterns()
    assert patterns.shape == (3, 4, 12, 12)
    for layer in range(3):
        assert np.array_equal(patterns[layer], result.arrays[f"layers.{layer}.attn.pattern"])


@pytest.mark.parametrize("causal", [False, True])
def test_padding_and_what_a_causal_mask_hides_are_told_and_never_attended_to(causal: bool) -> None:
    result = run(ENCODER, BATCH, 0, causal=causal)
    assert result.tokens[5:] == ("[PAD]",) * 7
    assert result.padding.tolist() == [False] * 5 + [True] * 7
    assert result.special.tolist() == result.padding.tolist()  # this tokenizer adds no tokens of its own
    allowed = np.tri(12, dtype=bool) if causal else np.ones((12, 12), bool)
    assert np.array_equal(result.allowed, allowed & ~result.padding)
    assert not result.patterns()[..., ~result.allowed].any()
    rows = np.broadcast_to(~result.padding, result.patterns().shape[:3])
    np.testing.assert_allclose(result.patterns().sum(axis=-1), rows, atol=1e-5)
    assert not run(ENCODER, BATCH, 1).padding.any()


def test_a_run_cannot_be_changed() -> None:
    for causal in (False, True):
        result = run(ENCODER, BATCH, 0, causal=causal)
        for array in (*result.arrays.values(), result.padding, result.special, result.allowed):
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0


# --- limits


def test_too_many_attention_weights_are_refused_before_anything_runs() -> None:
    wide = ModelConfig(vocab_size=10, d_model=64, n_heads=64, n_layers=8)
    longest = max(n for n in range(1, 1_000) if 8 * (64 * n**2 + 7 * n * 64) <= MAX_KEPT)
    check_kept(wide, longest)
    with pytest.raises(TooLargeError, match=rf"8 layers × \(64 heads × {longest + 1}² attention weights"):
        check_kept(wide, longest + 1)
    flat = ModelConfig(vocab_size=10, d_model=4096, n_heads=1, n_layers=96, d_ff=8)
    with pytest.raises(TooLargeError, match="vectors of 4096 numbers"):
        check_kept(flat, 256)
    deep = Encoder(ModelConfig(vocab_size=characters().vocab_size, d_model=96, n_heads=96, n_layers=6, d_ff=8))
    with pytest.raises(TooLargeError, match="would fit"):
        run(deep, characters().encode_batch(["x" * 256]))


# --- turns


def test_a_turn_that_does_not_come_free_in_time_says_so() -> None:
    turns = Turns(n=1, timeout=0.01)
    with turns.take(), pytest.raises(BusyError, match="try again"), turns.take():
        pytest.fail("two at once")
    with turns.take():
        pass


def test_a_turn_is_given_back_after_an_error() -> None:
    turns = Turns(n=1, timeout=0.01)
    for _ in range(3):
        with pytest.raises(RuntimeError, match="inside"), turns.take():
            raise RuntimeError("inside")


def test_as_many_as_allowed_compute_at_once_and_the_next_waits() -> None:
    turns, inside, leave, order = Turns(n=2, timeout=30), threading.Barrier(3), threading.Event(), []

    def hold() -> None:
        with turns.take():
            inside.wait(timeout=30)
            leave.wait(timeout=30)
            order.append("left")

    threads = [threading.Thread(target=hold) for _ in range(2)]
    for thread in threads:
        thread.start()
    inside.wait(timeout=30)  # both are inside
    threading.Timer(0.05, leave.set).start()
    with turns.take():
        assert "left" in order
    for thread in threads:
        thread.join(timeout=30)


# --- devices


@pytest.mark.parametrize(
    ("wanted", "cuda", "device"),
    [("auto", False, "cpu"), ("cuda", False, "cpu"), ("cuda:1", False, "cpu"), ("cpu", True, "cpu"),
     ("auto", True, "cuda"), ("cuda", True, "cuda"), ("cuda:1", True, "cuda:1"), ("cuda:2", True, "cuda")],
)  # fmt: skip
def test_the_device_is_the_wanted_one_where_it_is_there(
    wanted: str, cuda: bool, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert choose_device(wanted) == torch.device(device)
