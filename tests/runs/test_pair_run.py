"""One bounded pass of an encoder–decoder: a `PairRun` holds what the model computes, and nobody can change it.

What a pass of either model must leave as it was, or refuse, is asked of both here.
"""

from functools import partial

import numpy as np
import pytest
import torch

from playground import EncoderDecoder, ModelConfig, Trace
from playground.errors import TooLargeError
from playground.runs.budget import check_budget, check_pair_budget
from playground.runs.pair_run import ATTENTION_POINTS, run_pair
from playground.text import bpe, characters

CONFIG = ModelConfig(vocab_size=characters().vocab_size, d_model=16, n_heads=4, n_layers=3, d_ff=32, max_len=16)
MODEL = EncoderDecoder(CONFIG, bpe(300).vocab_size, seed=5)
SOURCE = characters().encode_batch(["a cat", "a longer cat"])
TARGET = bpe(300).encode_batch(["een kat", "kat", "een oude kat"])


@pytest.mark.parametrize(("sentence", "line"), [(0, 0), (0, 1), (1, 2), (1, 1)])
def test_the_arrays_are_what_the_model_computes(sentence: int, line: int) -> None:
    trace = Trace()
    with torch.inference_mode():
        logits = MODEL(
            SOURCE.ids[[sentence]], TARGET.ids[[line]], SOURCE.mask[[sentence]], TARGET.mask[[line]], trace
        )  # the model builds the no-peek mask itself here
    run = run_pair(MODEL, SOURCE, TARGET, sentence, line)
    assert np.array_equal(run.logits, logits[0].numpy())
    for attention, point in ATTENTION_POINTS.items():
        for layer in range(3):
            assert np.array_equal(run.patterns[attention][layer], trace[point.format(layer)][0].numpy()), attention
    assert run.config == CONFIG
    assert run.device == "cpu"
    assert 0 < run.seconds < 60


def test_the_masks_are_written_out_and_the_combined_one_is_both() -> None:
    run = run_pair(MODEL, SOURCE, TARGET, 0, 1)
    n_source, n_target = SOURCE.ids.shape[1], TARGET.ids.shape[1]
    real = ~run.target.padding
    assert np.array_equal(run.masks["source padding"], np.tile(~run.source.padding, (n_target, 1)))
    assert np.array_equal(run.masks["target padding"], np.tile(real, (n_target, 1)))
    assert np.array_equal(run.masks["no peek"], np.tri(n_target, dtype=bool))
    assert np.array_equal(run.masks["combined"], np.tri(n_target, dtype=bool) & real)
    assert run.masks["source padding"].shape == (n_target, n_source)


@pytest.mark.parametrize("attention", ATTENTION_POINTS)
def test_weight_lies_where_the_masks_allow_it_and_nowhere_else(attention: str) -> None:
    run = run_pair(MODEL, SOURCE, TARGET, 0, 1)
    allowed, patterns = run.allowed(attention), run.patterns[attention]
    assert allowed.shape == patterns.shape[2:]
    assert not patterns[..., ~allowed].any()
    assert (patterns[..., allowed] > 0).all()
    np.testing.assert_allclose(patterns.sum(axis=-1), 1, atol=1e-5)


def test_the_budget_is_the_largest_model_that_runs() -> None:
    checks = {MODEL.encoder: partial(check_budget, CONFIG), MODEL: partial(check_pair_budget, CONFIG, 300)}
    for model, check in checks.items():
        n = sum(parameter.numel() for parameter in model.parameters())
        check(n)
        with pytest.raises(TooLargeError, match=rf"{n:,} parameters[\s\S]*at most {n - 1:,}[\s\S]*would fit"):
            check(n - 1)
