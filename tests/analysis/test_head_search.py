"""Heads are ranked as plain loops over a run's cells rank them."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from playground import Encoder, ModelConfig
from playground.analysis.head_search import FEWEST, LEAST, search_heads, strongest_heads
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
    assert found.n_compared == len(near)
    assert found.distances == (min(k - q for q, k in near), max(k - q for q, k in near))
    assert found.n_keys == (query + 1 if causal else 16)
    assert list(found.table["weight"]) == sorted(found.table["weight"], reverse=True)
    assert len(found.table) == 8
    first = found.table[["layer", "head", "weight"]].head(3).itertuples(index=False, name=None)
    assert strongest_heads(result, query, key, 3) == list(first)
    assert len(strongest_heads(result, query, key, 100)) == 8
    for row in found.table.to_dict("records"):
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


@pytest.mark.parametrize(("global_every", "n_keys"), [(0, 3), (2, 16)])
def test_the_keys_that_are_counted_are_those_of_a_layer_not_of_the_sentence(global_every: int, n_keys: int) -> None:
    found = search_heads(run_of(window=2, global_every=global_every), 4, 5)
    assert found.n_keys == n_keys


def test_padding_is_never_compared_with() -> None:
    found = search_heads(run_of(1), 0, 1)
    assert found.n_keys == 3
    assert found.n_compared == 8
    assert found.distances == (-2, 2)


def test_one_token_has_nothing_to_compare_with() -> None:
    result = run_of(1)
    alone = replace(result, allowed=np.eye(16, dtype=bool) & (np.arange(16) == 0))
    found = search_heads(alone, 0, 0)
    assert (found.n_compared, found.distances) == (0, (0, 0))
    assert found.table["z"].isna().all()
    assert (found.table["rank"] == 1).all()


def test_heads_that_are_all_alike_are_nowhere_unusual() -> None:
    result = run_of()
    even = {name: np.full_like(array, 1 / 16) for name, array in result.arrays.items()}
    assert search_heads(replace(result, arrays=even), 2, 4).table["z"].isna().all()
