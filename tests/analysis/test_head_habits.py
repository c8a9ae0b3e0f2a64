"""Heads made to have a habit are known for it, and the scores are those of plain loops."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from playground import Encoder, ModelConfig
from playground.analysis.attention import POSITION_ONLY, PROBES, RULES, measure_habits
from playground.runs.encoder_run import Run, run
from playground.text import words
from playground.weights.checkpoint import load

TOKENS = ("[CLS]", "a", "cat", ",", "a", "dog", "[SEP]", "[PAD]")
N = 7


def run_with(*patterns: NDArray[np.float64], causal: bool = False) -> Run:
    """A run of one layer whose heads have these patterns (N, N), with one token of padding behind."""
    config = ModelConfig(vocab_size=5, d_model=8 * len(patterns), n_heads=len(patterns), n_layers=1, d_ff=8)
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
DISTANCE = np.exp(-np.abs(np.subtract.outer(np.arange(N), np.arange(N))) / 1.5) / 3


@pytest.mark.parametrize(
    ("pattern", "known"),
    [
        (PREVIOUS, "previous token"), (NEXT, "next token"), (SAME, "same token"), (SINK, "[CLS] and [SEP]"),
        (MARKS, "punctuation"), (EVEN, None), (RANDOM, None),
    ],
    ids=["previous", "next", "same", "sink", "marks", "even", "random"],
)  # fmt: skip
def test_a_head_with_a_habit_is_known_for_it(pattern: NDArray[np.float64], known: str | None) -> None:
    habits = measure_habits([run_with(EVEN, pattern)])
    assert habits.known_for(0, 0) is None
    assert habits.known_for(0, 1) == known
    if known:
        assert habits.scores[known][0, 1] == pytest.approx(1)


def test_a_head_that_knows_distance_alone_is_known_for_that() -> None:
    habits = measure_habits([run_with(DISTANCE)])
    assert habits.scores[POSITION_ONLY][0, 0] == pytest.approx(1)
    assert habits.known_for(0, 0) == POSITION_ONLY


@pytest.mark.parametrize("causal", [False, True])
def test_scores_are_those_of_plain_loops(causal: bool) -> None:
    result = run_with(RANDOM * np.tri(N) if causal else RANDOM, causal=causal)
    habits = measure_habits([result, result])
    for name, rule in RULES.items():
        named, found, even = rule(result), [], []
        for query in (1, 2, 3, 4, 5):  # neither special nor padding
            may = [key for key in range(N) if not causal or key <= query]
            places = [key for key in may if named[query, key]]
            if places:
                found.append(sum(result.pattern(0)[0, query, key] for key in places))
                even.append(len(places) / len(may))
        assert (
            habits.scores[name][0, 0] == pytest.approx(np.mean(found)) if found else np.isnan(habits.scores[name][0, 0])
        )
        assert habits.even[name] == pytest.approx(np.mean(even)) if found else np.isnan(habits.even[name])


def test_what_nobody_can_do_here_has_no_score() -> None:
    result = replace(run_with(EVEN), special=np.zeros(N + 1, bool), tokens=("a",) * (N + 1))
    habits = measure_habits([result])
    assert np.isnan(habits.scores["[CLS] and [SEP]"]).all()
    assert np.isnan(habits.scores["punctuation"]).all()
    assert habits.scores["same token"] == pytest.approx(1)
    assert habits.known_for(0, 0) is None, "where all tokens are one, nobody can look at another"


def test_distance_is_adjusted_for_what_chance_explains() -> None:
    generator = np.random.default_rng(1)
    heads = [generator.dirichlet(np.ones(N), N) for _ in range(40)]
    explained = measure_habits([run_with(*heads)]).scores[POSITION_ONLY]
    assert explained.mean() < 0.2, "unadjusted, 12 means of 35 weights explain a third"


def test_one_token_has_no_habits() -> None:
    config = ModelConfig(vocab_size=5, d_model=8, n_heads=2, n_layers=1, d_ff=8)
    habits = measure_habits([run(Encoder(config), words(["x"]).encode_batch(["x"]))])
    assert np.isnan(habits.scores[POSITION_ONLY]).all()
    assert np.isnan(habits.scores["previous token"]).all()


def test_the_trained_encoder_has_the_heads_of_the_literature() -> None:
    encoder, tokenizer = load("minilm")
    batch = tokenizer.encode_batch(list(PROBES))
    habits = measure_habits([run(encoder, batch, i) for i in range(len(PROBES))])
    known = [habits.known_for(layer, head) for layer in range(6) for head in range(12)]
    assert habits.known_for(0, 2) == "previous token"
    assert habits.known_for(1, 8) == "next token"
    assert known.count("[CLS] and [SEP]") > 20
    assert not sum(map(sum, batch.unknown)), "every word is one that the encoder knows"
