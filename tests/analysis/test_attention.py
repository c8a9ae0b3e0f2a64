"""Entropy, spread and habits of heads against plain loops and cases that can be worked out by hand."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from playground import Encoder, ModelConfig
from playground.analysis import attention
from playground.runs.encoder_run import Run, run
from playground.text import characters, words
from playground.weights import checkpoint
from tests.model.reference import scramble


def random_patterns(seed: int, *shape: int, causal: bool = False) -> NDArray[np.float32]:
    """Patterns (…, T, T) whose rows sum to 1."""
    weights = np.random.default_rng(seed).random((*shape, shape[-1])) ** 3
    if causal:
        weights *= np.tri(shape[-1])
    patterns: NDArray[np.float32] = (weights / weights.sum(axis=-1, keepdims=True)).astype(np.float32)
    return patterns


def test_entropy_is_the_sum_of_its_definition() -> None:
    patterns = random_patterns(0, 2, 3, 5)
    patterns[0, 0] = np.eye(5)
    patterns[0, 1] = np.tri(5, k=-1) / 4  # the first query is masked
    bits = attention.entropy(patterns)
    assert bits.shape == (2, 3, 5)
    assert not np.signbit(bits).any()
    for index in np.ndindex(2, 3, 5):
        assert bits[index] == pytest.approx(-sum(p * math.log2(p) for p in patterns[index].tolist() if p > 0), abs=1e-5)


CONFIG = ModelConfig(vocab_size=characters().vocab_size, d_model=16, n_heads=4, n_layers=3, d_ff=32, max_len=32)
BATCH = characters().encode_batch(["a cat", "a much longer cat"])


@pytest.mark.parametrize("causal", [False, True])
def test_spread_is_the_mean_entropy_by_the_highest(causal: bool) -> None:
    computed = run(scramble(Encoder(CONFIG, seed=5)), BATCH, causal=causal)
    spread = attention.pattern_spread(computed)
    assert spread.shape == (3, 4)
    for layer in range(3):
        rows = torch.tensor(computed.arrays[f"layers.{layer}.attn.pattern"])[:, :5, :5]
        entropies = torch.special.entr(rows).sum(-1)  # (H, 5), in nats
        n_keys = torch.arange(1.0, 6) if causal else torch.full((5,), 5.0)
        np.testing.assert_allclose(spread[layer], entropies.mean(-1) / n_keys.log().mean(), rtol=1e-4)


TOKENS = ("[CLS]", "a", "cat", ",", "a", "dog", "[SEP]", "[PAD]")
N = 7


def run_with(*patterns: NDArray[np.float64], causal: bool = False, window: int = 0) -> Run:
    """A run of one layer whose heads have these patterns (N, N), with one token of padding behind."""
    n = len(patterns)
    config = ModelConfig(vocab_size=5, d_model=8 * n, n_heads=n, n_layers=1, d_ff=8, window=window)
    base = run(Encoder(config), words(["x y"]).encode_batch(["x y"]))
    weights = np.zeros((len(patterns), N + 1, N + 1), np.float32)
    weights[:, :N, :N] = patterns
    weights[:, N, 0] = 1  # what padding attends to, which nobody reads
    allowed = np.zeros((N + 1, N + 1), bool)
    allowed[:, :N] = np.tri(N + 1, N) if causal else 1
    return replace(
        base,
        tokens=TOKENS,
        special=np.array([token[0] == "[" for token in TOKENS]),
        padding=np.array([token == "[PAD]" for token in TOKENS]),
        allowed=allowed,
        arrays={"layers.0.attn.pattern": weights},
    )


def on(*keys_of_each_query: tuple[int, ...]) -> NDArray[np.float64]:
    """A pattern that spreads each query's weight evenly over its keys."""
    rows = np.zeros((N, N))
    for query, keys in enumerate(keys_of_each_query):
        rows[query, list(keys)] = 1 / len(keys)
    return rows


PREVIOUS = on((0,), *((i,) for i in range(N - 1)))
NEXT = on(*((i + 1,) for i in range(N - 1)), (6,))
SAME = on((0,), (1, 4), (2,), (3,), (1, 4), (5,), (6,))
SINK = on(*((0, 6),) * N)
MARKS = on(*((3,),) * N)
EVEN = on(*(tuple(range(N)),) * N)
RANDOM = np.random.default_rng(0).dirichlet(np.ones(N), N)


@pytest.mark.parametrize(
    ("pattern", "known"),
    [
        (PREVIOUS, "previous token"), (NEXT, "next token"), (SAME, "same token"), (SINK, "[CLS] and [SEP]"),
        (MARKS, "punctuation"), (EVEN, None), (RANDOM, None),
    ],
    ids=["previous", "next", "same", "sink", "marks", "even", "random"],
)  # fmt: skip
def test_a_head_with_a_habit_is_known_for_it(pattern: NDArray[np.float64], known: str | None) -> None:
    habits = attention.measure_habits([run_with(EVEN, pattern)])
    assert habits.known_for(0, 0) is None
    assert habits.known_for(0, 1) == known
    if known:
        assert habits.scores[known][0, 1] == pytest.approx(1)


@pytest.mark.parametrize(("even", "score", "known"), [(0.3, 0.65, True), (0.3, 0.55, False), (0.1, 0.45, False)])
def test_a_known_head_has_half_its_weight_and_twice_an_even_heads_there(even: float, score: float, known: bool) -> None:
    habits = attention.Habits({"next token": np.array([[score]])}, {"next token": np.array([even])})
    assert habits.known_for(0, 0) == ("next token" if known else None)


@pytest.mark.parametrize(("causal", "window"), [(False, 0), (True, 0), (False, 4), (True, 4)])
def test_scores_are_those_of_plain_loops(causal: bool, window: int) -> None:
    keys_of = [
        [key for key in range(N) if (not causal or key <= query) and (not window or abs(key - query) <= window // 2)]
        for query in range(N)
    ]
    result = run_with(RANDOM * (on(*map(tuple, keys_of)) > 0), causal=causal, window=window)
    habits = attention.measure_habits([result, result])
    for name, rule in attention.RULES.items():
        named, found, even = rule(result), [], []
        for query in (1, 2, 3, 4, 5):  # neither special nor padding
            may = keys_of[query]
            places = [key for key in may if named[query, key]]
            if places:
                found.append(sum(result.pattern(0)[0, query, key] for key in places))
                even.append(len(places) / len(may))
        assert (
            habits.scores[name][0, 0] == pytest.approx(np.mean(found)) if found else np.isnan(habits.scores[name][0, 0])
        )
        assert habits.even[name][0] == pytest.approx(np.mean(even)) if found else np.isnan(habits.even[name][0])
    cells = [(key - query, query, key) for query in range(1, 6) for key in keys_of[query]]
    distance, *places = np.array(cells * 2).T
    weights = result.pattern(0)[0][*places].astype(np.float64)
    left = sum(np.square(weights[distance == d] - weights[distance == d].mean()).sum() for d in set(distance))
    adjusted = 1 - left / (len(weights) - len(set(distance))) / weights.var(ddof=1)  # Wherry's
    assert habits.scores[attention.POSITION_ONLY][0, 0] == pytest.approx(adjusted)


def test_what_nobody_can_do_here_has_no_score() -> None:
    result = replace(run_with(EVEN), special=np.zeros(N + 1, bool), tokens=("a",) * (N + 1))
    habits = attention.measure_habits([result])
    assert np.isnan(habits.scores["[CLS] and [SEP]"]).all()
    assert np.isnan(habits.scores["punctuation"]).all()
    assert habits.scores["same token"] == pytest.approx(1)
    assert habits.known_for(0, 0) is None, "where all tokens are one, nobody can look at another"


@pytest.mark.long
def test_the_trained_encoder_has_the_heads_of_the_literature() -> None:
    encoder, tokenizer = checkpoint.load("minilm")
    batch = tokenizer.encode_batch(list(attention.PROBES))
    habits = attention.measure_habits([run(encoder, batch, i) for i in range(len(attention.PROBES))])
    known = [habits.known_for(layer, head) for layer in range(6) for head in range(12)]
    assert habits.known_for(0, 2) == "previous token"
    assert habits.known_for(1, 8) == "next token"
    assert known.count("[CLS] and [SEP]") > 20
    assert not sum(map(sum, batch.unknown)), "every word is one that the encoder knows"


LETTERS = ["abcdefghijklmnop", "xyz"]


SEARCHED = ModelConfig(vocab_size=characters().vocab_size, d_model=16, n_heads=4, n_layers=2, d_ff=24, max_len=16)


def searched_run(sentence: int = 0, *, causal: bool = False, **changes: Any) -> Run:
    encoder = scramble(Encoder(replace(SEARCHED, **changes), seed=1))
    return run(encoder, characters().encode_batch(LETTERS), sentence, causal=causal)


def log_odds(weight: float) -> float:
    weight = min(max(weight, attention.LEAST), 1 - attention.LEAST)
    return math.log(weight) - math.log(1 - weight)


@given(st.integers(0, 15), st.integers(0, 15), st.booleans(), st.sampled_from([0, 26, 6]))
def test_weights_ranks_and_z_scores_are_those_of_plain_loops(query: int, key: int, causal: bool, window: int) -> None:
    if causal and key > query:
        return
    result = searched_run(causal=causal, window=window, global_every=2 if window else 0)
    found = attention.search_heads(result, query, key)
    cells = [(q, k) for q in range(16) for k in range(q + 1 if causal else 16) if (q, k) != (query, key)]
    off = sorted(abs(k - q - key + query) for q, k in cells)
    near = [(q, k) for q, k in cells if abs(k - q - key + query) <= off[attention.FEWEST - 1]]
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
    even = {f"layers.{layer}.attn.pattern": np.full((4, 16, 16), 1 / 16, np.float32) for layer in range(2)}
    assert attention.search_heads(replace(searched_run(), arrays=even), 2, 4)["z"].isna().all()
