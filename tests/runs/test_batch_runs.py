"""Many sentences in a few passes give what each gives alone; what is too much is counted before it is run."""

import numpy as np
import pytest

from playground import Encoder, ModelConfig
from playground.errors import TooLargeError
from playground.model.changes import Change
from playground.presets import PRESETS
from playground.runs import run, variant_runs
from playground.runs.variant_runs import MAX_VECTORS, MAX_WORK, can_afford, count_affordable, run_batch
from playground.text import characters, words
from tests.model.reference import scramble

SENTENCES = ["a cat", "a dog", "a much longer cat", "x"]
BATCH = characters().encode_batch(SENTENCES)
FIELDS = {"vocab_size": characters().vocab_size, "d_model": 16, "n_heads": 4, "n_layers": 2, "d_ff": 32, "max_len": 32}
POINTS = frozenset({"embed.out", "layers.0.out", "final"})


@pytest.mark.parametrize("at_once", [1, 3, 9])
@pytest.mark.parametrize("causal", [False, True])
def test_every_row_is_the_run_of_its_sentence(causal: bool, at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(variant_runs, "rows_at_once", lambda *_: at_once)
    encoder = scramble(Encoder(ModelConfig(**FIELDS), seed=2))  # type: ignore[arg-type]
    changes: list[list[Change]] = [[], [Change("zero", 1, 2)], [], [Change("off", 0, None, ("ffn",))]]
    steps = list(run_batch(encoder, BATCH, keep=POINTS.__contains__, causal=causal, interventions=changes))
    assert sorted(sentence for step in steps for sentence in step.sentences) == [0, 1, 2, 3]
    assert max(len(step.sentences) for step in steps) == min(at_once, 2)
    for step in steps:
        assert set(step.arrays) == POINTS
        for row, sentence in enumerate(step.sentences):
            alone = run(encoder, BATCH, sentence, causal=causal, interventions=changes[sentence])
            for point in POINTS:
                np.testing.assert_allclose(step.arrays[point][row], alone.arrays[point], atol=2e-6)


def test_as_many_sentences_as_tokens_that_grow_by_one_are_no_causal_mask() -> None:
    growing, encoder = characters().encode_batch(["a", "ab", "abc"]), Encoder(ModelConfig(**FIELDS))  # type: ignore[arg-type]
    (step,) = run_batch(encoder, growing, keep="final".__eq__)
    for row in range(3):
        np.testing.assert_allclose(step.arrays["final"][row], run(encoder, growing, row).arrays["final"], atol=2e-6)


def test_chosen_sentences_alone_are_run_and_vectors_are_those_of_the_seed() -> None:
    tokenizer = words(SENTENCES)
    batch = tokenizer.encode_batch(SENTENCES)
    encoder = Encoder(ModelConfig(**FIELDS | {"vocab_size": 0}), seed=2)  # type: ignore[arg-type]
    (step,) = run_batch(encoder, batch, keep="final".__eq__, seed=5, sentences=[2, 0])
    assert step.sentences == (2, 0)
    for row, sentence in enumerate(step.sentences):
        alone = run(encoder, batch, sentence, seed=5).arrays["final"]
        np.testing.assert_allclose(step.arrays["final"][row], alone, atol=2e-6)


def test_a_sentence_over_the_memory_budget_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("playground.runs.budget.MAX_KEPT", 100)
    encoder = Encoder(ModelConfig(**FIELDS), seed=2)  # type: ignore[arg-type]
    with pytest.raises(TooLargeError):
        list(run_batch(encoder, BATCH, keep="final".__eq__))


def test_as_many_sentences_are_affordable_as_both_limits_allow() -> None:
    config = PRESETS["minilm-l6"].config
    blocks = 6 * (4 * 384**2 + 2 * 384 * 1_536)  # numbers in MiniLM's matrices
    assert count_affordable(config, [16] * 40) == 40
    lengths = [128] * 40
    n = count_affordable(config, lengths)
    assert 0.8 < n * 128 * 2 * blocks / MAX_WORK < 1.0, "the work of the matrices, attention's own beside it"
    assert can_afford(config, 128, n)
    assert not can_afford(config, 128, n + 1)
    assert count_affordable(config, [8] * 20 + [128] * 20) == max(20, n), "a long one makes every other dearer"
    cheap = ModelConfig(**FIELDS | {"d_model": 64, "n_layers": 1, "d_ff": 8})  # type: ignore[arg-type]
    assert count_affordable(cheap, [2_000] * 40) == MAX_VECTORS // (2_000 * 64)
    assert count_affordable(PRESETS["gpt-3"].config, [128] * 40) == 1
