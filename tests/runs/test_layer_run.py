"""One layer of a run that is known is what the whole run says of it, bit by bit."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground import Encoder, ModelConfig
from playground.model.changes import Change
from playground.runs.encoder_run import LayerRun, run, trace_layer
from playground.text import build_tokenizer
from tests.model.strategies import configs, modest

TEXT = ("a cat sat on a mat", "the dog")
BATCH = build_tokenizer("char", 0, TEXT).encode_batch(TEXT, 24)

ROWS = st.sampled_from((0, 400))
"""Of the token table: none, or enough for any character."""


def assert_equal(found: LayerRun, expected: LayerRun) -> None:
    assert found.run.arrays.keys() == expected.run.arrays.keys()
    for name, array in expected.run.arrays.items():
        np.testing.assert_array_equal(found.run.arrays[name], array, name)
        assert not found.run.arrays[name].flags.writeable
    for name in ("tokens", "special", "padding", "allowed", "config", "device"):
        np.testing.assert_array_equal(getattr(found.run, name), getattr(expected.run, name))
    np.testing.assert_array_equal(found.merged, expected.merged)


@modest
@given(ROWS.flatmap(lambda rows: configs(vocab_size=rows, max_len=64)), st.booleans(), st.integers(0, 1))
def test_it_is_the_whole_runs_layer(config: ModelConfig, causal: bool, sentence: int) -> None:
    how: dict[str, Any] = {"seed": 1, "causal": causal}
    model = Encoder(config, seed=0)
    known = run(model, BATCH, sentence, **how)
    for layer in range(config.n_layers):
        expected = trace_layer(model, BATCH, sentence, layer, **how)
        assert_equal(trace_layer(model, BATCH, sentence, layer, known=known, **how), expected)


def test_no_other_layer_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Encoder(ModelConfig(vocab_size=400, d_model=16, n_heads=2, n_layers=3, d_ff=8, max_len=64), seed=0)
    known, expected = run(model, BATCH), trace_layer(model, BATCH, 0, 1)
    for other in (0, 2):
        monkeypatch.setattr(model.layers[other], "forward", None)
    assert_equal(trace_layer(model, BATCH, 0, 1, known=known), expected)


def test_with_interventions_the_whole_sentence_runs() -> None:
    model = Encoder(ModelConfig(vocab_size=400, d_model=16, n_heads=2, n_layers=2, d_ff=8, max_len=64), seed=0)
    changes: list[Change] = [Change("zero", 0, 1)]
    changed = trace_layer(model, BATCH, 0, 1, interventions=changes)
    assert_equal(trace_layer(model, BATCH, 0, 1, interventions=changes, known=run(model, BATCH)), changed)
    assert not np.array_equal(changed["out"], trace_layer(model, BATCH, 0, 1)["out"])
