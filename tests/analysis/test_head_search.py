"""Heads are ranked as plain loops over a run's cells rank them."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground import Encoder, ModelConfig
from playground.analysis.head_search import FEWEST, LEAST, search_heads
from playground.runs.encoder_run import Run, run
from playground.text import characters
from tests.model.reference import scramble

TEXT = ["abcdefghijklmnop", "xyz"]


CONFIG = ModelConfig(vocab_size=characters().vocab_size, d_model=16, n_heads=4, n_layers=2, d_ff=24, max_len=16)


def run_of(sentence: int = 0, *, causal: bool = False, **changes: Any) -> Run:
    encoder = scramble(Encoder(replace(CONFIG, **changes), seed=1))
    return run(encoder, characters().encode_batch(TEXT), sentence, causal=causal)


def log_odds(weight: float) -> float:
    weight = min(max(weight, LEAST), 1 - LEAST)
    return math.log(weight) - math.log(1 - weight)


@given(st.integers(0, 15), st.integers(0, 15), st.booleans(), st.sampled_from([0, 26, 6]))
def test_weights_ranks_and_z_scores_are_those_of_plain_loops(query: int, key: int, causal: bool, window: int) -> None:
    if causal and key > query:
        return
    result = run_of(causal=causal, window=window, global_every=2 if window else 0)
    found = search_heads(result, query, key)
    cells = [(q, k) for q in range(16) for k in range(q + 1 if causal else 16) if (q, k) != (query, key)]
    off = sorted(abs(k - q - key + query) for q, k in cells)
    near = [(q, k) for q, k in cells if abs(k - q - key + query) <= off[FEWEST - 1]]
    assert list(found["weight"]) == sorted(found["weight"], reverse=True)
    assert len(found) == 8
    for row in found.reset_index().to_dict("records"):
        pattern = result.pattern(row["layer"])[row["head"]].astype(float)
        assert row["weight"] == pytest.approx(pattern[query, key])
        farthest = window // 2 if window and row["layer"] == 1 else 16
        others = [log_odds(pattern[q, k]) for q, k in near if abs(k - q) <= farthest]
        if abs(key - query) > farthest:
            assert np.isnan([row["z"], row["rank"]]).all(), "the window hides the key itself"
            continue
        assert row["rank"] == 1 + sum(pattern[query] > pattern[query, key])
        expected = (log_odds(pattern[query, key]) - np.mean(others)) / np.std(others)
        assert row["z"] == pytest.approx(expected, abs=0.02)


def test_heads_that_are_all_alike_are_nowhere_unusual() -> None:
    result = run_of()
    even = {name: np.full_like(array, 1 / 16) for name, array in result.arrays.items()}
    assert search_heads(replace(result, arrays=even), 2, 4)["z"].isna().all()
