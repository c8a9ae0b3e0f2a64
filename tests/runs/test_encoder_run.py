"""One bounded pass: a run, or one layer of it, with dropout or without, is what the encoder computes."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from playground import Encoder, ModelConfig, Trace
from playground.errors import TooLargeError
from playground.model import causal_and_padding
from playground.runs.budget import MAX_KEPT, check_kept, choose_device
from playground.runs.encoder_run import DROPOUT_PLACES, run, run_with_dropout, trace_layer
from playground.text import characters

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


@pytest.mark.parametrize("causal", [False, True])
def test_padding_and_what_a_causal_mask_hides_are_told_and_never_attended_to(causal: bool) -> None:
    result = run(ENCODER, BATCH, 0, causal=causal)
    assert result.tokens[5:] == ("[PAD]",) * 7
    assert result.padding.tolist() == [False] * 5 + [True] * 7
    assert (result.n_real, result.real_tokens) == (5, list(result.tokens[:5]))
    assert result.special.tolist() == result.padding.tolist()  # this tokenizer adds no tokens of its own
    allowed = np.tri(12, dtype=bool) if causal else np.ones((12, 12), bool)
    assert np.array_equal(result.allowed, allowed & ~result.padding)
    assert not result.patterns()[..., ~result.allowed].any()
    rows = np.broadcast_to(~result.padding, result.patterns().shape[:3])
    np.testing.assert_allclose(result.patterns().sum(axis=-1), rows, atol=1e-5)
    assert not run(ENCODER, BATCH, 1).padding.any()


def test_what_hides_a_key_is_padding_a_causal_mask_or_the_layers_window() -> None:
    encoder = Encoder(replace(CONFIG, window=2, global_every=2), seed=5)
    for causal in (False, True):
        result = run(encoder, BATCH, 0, causal=causal)
        for layer in range(3):
            reasons = np.array([[result.why_hidden(layer, query, key) for key in range(12)] for query in range(5)])
            np.testing.assert_array_equal(reasons == "", result.allowed_in(layer)[:5])
            assert set(reasons[:, 5:].ravel()) == {"padding key"}
            later = np.triu(np.ones((5, 5), bool), 1)
            assert np.array_equal(reasons[:, :5] == "causal", later & causal)
            assert ("window" in reasons) == (layer == 1)
            assert result.why_hidden(layer, 5, 0) == "padding query"


# --- limits


def test_too_many_attention_weights_are_refused_before_anything_runs() -> None:
    wide = ModelConfig(vocab_size=10, d_model=64, n_heads=64, n_layers=8)
    longest = max(n for n in range(1, 1_000) if 8 * (64 * n**2 + 7 * n * 64) <= MAX_KEPT)
    check_kept(wide, longest)
    with pytest.raises(TooLargeError, match="would fit"):
        check_kept(wide, longest + 1)
    deep = Encoder(ModelConfig(vocab_size=characters().vocab_size, d_model=96, n_heads=96, n_layers=6, d_ff=8))
    with pytest.raises(TooLargeError, match="would fit"):
        run(deep, characters().encode_batch(["x" * 256]))


# --- devices


@pytest.mark.parametrize(
    ("wanted", "cuda", "device"),
    [("auto", False, "cpu"), ("cuda:1", False, "cpu"), ("cpu", True, "cpu"),
     ("auto", True, "cuda"), ("cuda:1", True, "cuda:1"), ("cuda:2", True, "cuda")],
)  # fmt: skip
def test_the_device_is_the_wanted_one_where_it_is_there(
    wanted: str, cuda: bool, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert choose_device(wanted) == torch.device(device)


DROPPING = Encoder(replace(CONFIG, d_ff=40, dropout=0.25), seed=2)
TWO = characters().encode_batch(["a sentence", "another"])


@pytest.mark.parametrize("layer", [0, 2])
def test_every_drop_is_a_zero_or_a_division(layer: int) -> None:
    _, drops = run_with_dropout(DROPPING, TWO, 0, layer, seed=5)
    assert list(drops) == list(DROPOUT_PLACES)
    shapes = [before.shape for before, _ in drops.values()]
    assert shapes == [(10, 16), (4, 10, 10), (10, 16), (10, 40), (10, 16)]
    for before, after in drops.values():
        kept = after != 0
        np.testing.assert_allclose(after[kept], before[kept] / 0.75, rtol=1e-6)
        dropped = (~kept & (before != 0)).sum() / (before != 0).sum()
        assert 0.1 < dropped < 0.4


def test_the_shared_model_and_torchs_random_state_stay_as_they_are() -> None:
    output, state = DROPPING(TWO.ids, TWO.mask), torch.get_rng_state()
    run_with_dropout(DROPPING, TWO, 0, 1, seed=1)
    assert not any(module.training for module in DROPPING.modules())
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.equal(DROPPING(TWO.ids, TWO.mask), output)


def test_a_layer_in_full_is_the_encoders_own_trace() -> None:
    trace, batch = Trace(), characters().encode_batch(["a cat"])
    ENCODER(batch.ids, batch.mask, trace)
    found = trace_layer(ENCODER, batch, 0, 1)
    for name in ("attn.q", "attn.scores", "ffn.hidden", "norm1.normalized", "out"):
        np.testing.assert_allclose(found[name], trace[f"layers.1.{name}"][0].detach(), atol=1e-5)
    merged = trace["layers.1.attn.z"][0].transpose(0, 1).reshape(5, 16)
    np.testing.assert_allclose(found.merged, merged.detach(), atol=1e-5)
    np.testing.assert_array_equal(found.learned["up.weight"][0], ENCODER.state_dict()["layers.1.ffn.up.weight"][0])
