"""A run with changes, and what many variants and many sentences in a few passes give: what each gives alone."""

from typing import Any

import numpy as np
import pytest

from playground import Encoder, ModelConfig, Trace
from playground.errors import InterventionError, TooLargeError
from playground.model.changes import Change
from playground.presets import PRESETS
from playground.runs import variant_runs
from playground.runs.encoder_run import intervention_trace, run
from playground.runs.variant_runs import MAX_VECTORS, MAX_WORK, can_afford, count_affordable, run_batch, run_variants
from playground.text import characters
from tests.changes import made, several
from tests.model.reference import scramble

BATCH = characters().encode_batch(["a cat", "a dog", "a longer cat"])
FIELDS: dict[str, Any] = {
    "vocab_size": characters().vocab_size,
    "d_model": 16,
    "n_heads": 4,
    "n_layers": 3,
    "d_ff": 32,
    "max_len": 16,
}
ENCODER = scramble(Encoder(ModelConfig(**FIELDS), seed=5))
VARIANTS: list[list[Change]] = [
    [],
    [made("2.1:zero")],
    [made("0.1:zero")],
    [made("1.ffn:off"), made("2.0:cut_1_0")],
    [made("positions:shuffle_3")],
    [made("embed:patch_2_2"), made("1.2:uniform_*")],
    [made("1.3.z:patch_2_2")],
    [made("2.0:zero~0.5")],
]


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("pre", [False, True])
def test_every_variant_is_the_run_with_its_interventions(causal: bool, pre: bool) -> None:
    config = ModelConfig(**FIELDS, norm_placement="pre" if pre else "post", final_norm=pre)
    encoder = scramble(Encoder(config, seed=2))
    steps = list(run_variants(encoder, BATCH, 0, VARIANTS, causal=causal))
    assert sorted(number for numbers, _ in steps for number in numbers) == list(range(len(VARIANTS)))
    for numbers, finals in steps:
        for number, final in zip(numbers, finals, strict=True):
            alone = run(encoder, BATCH, 0, causal=causal, interventions=VARIANTS[number])
            np.testing.assert_allclose(final[:5], alone.arrays["final"][:5], atol=1e-5)


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(InterventionError, match="layers are 0 to 2"):
        list(run_variants(ENCODER, BATCH, 0, [[made("5.0:zero")]]))
    with pytest.raises(InterventionError, match="5 and 12 tokens"):
        list(run_variants(ENCODER, BATCH, 0, [[made("0.out:patch_0_3")]]))
    wide = ModelConfig(vocab_size=characters().vocab_size, d_model=96, n_heads=96, n_layers=6, d_ff=8)
    with pytest.raises(TooLargeError, match="would fit"):
        list(run_variants(Encoder(wide), characters().encode_batch(["x" * 256]), 0, [[]]))
    assert list(run_variants(ENCODER, BATCH, 0, [])) == []


def test_variants_go_on_from_a_run_that_is_at_hand() -> None:
    variants = [[made(f"{layer}.1:cut_3_2")] for layer in (2, 0, 1)]
    given = run_variants(ENCODER, BATCH, 1, variants, untouched=run(ENCODER, BATCH, 1))
    for (numbers, final), (same, expected) in zip(given, run_variants(ENCODER, BATCH, 1, variants), strict=True):
        assert numbers == same
        np.testing.assert_allclose(final, expected, atol=1e-5)


SENTENCES = ["a cat", "a dog", "a much longer cat", "x"]
SENTENCES_BATCH = characters().encode_batch(SENTENCES)
TWO_LAYERS = FIELDS | {"n_layers": 2, "max_len": 32}
POINTS = frozenset({"embed.out", "layers.0.out", "final"})


@pytest.mark.parametrize("at_once", [1, 3, 9])
@pytest.mark.parametrize("causal", [False, True])
def test_every_row_is_the_run_of_its_sentence(causal: bool, at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(variant_runs, "rows_at_once", lambda *_: at_once)
    encoder = scramble(Encoder(ModelConfig(**TWO_LAYERS), seed=2))
    changes: list[list[Change]] = [[], [Change("zero", 1, 2)], [], [Change("off", 0, None, ("ffn",))]]
    steps = list(run_batch(encoder, SENTENCES_BATCH, keep=POINTS.__contains__, causal=causal, interventions=changes))
    assert sorted(sentence for sentences, _ in steps for sentence in sentences) == [0, 1, 2, 3]
    assert max(len(sentences) for sentences, _ in steps) == min(at_once, 2)
    for sentences, arrays in steps:
        assert set(arrays) == POINTS
        for row, sentence in enumerate(sentences):
            alone = run(encoder, SENTENCES_BATCH, sentence, causal=causal, interventions=changes[sentence])
            for point in POINTS:
                np.testing.assert_allclose(arrays[point][row], alone.arrays[point], atol=1e-4)


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
    cheap = ModelConfig(**TWO_LAYERS | {"d_model": 64, "n_layers": 1, "d_ff": 8})
    assert count_affordable(cheap, [2_000] * 40) == MAX_VECTORS // (2_000 * 64)
    assert count_affordable(PRESETS["gpt-3"].config, [128] * 40) == 1


SEVERAL = several("1.2:zero 0.1:uniform_2 2.ffn:off~0.5")


def test_the_arrays_are_those_of_the_changed_pass() -> None:
    plain, changed = run(ENCODER, BATCH), run(ENCODER, BATCH, interventions=SEVERAL)
    assert list(changed.arrays) == list(plain.arrays)
    np.testing.assert_allclose(changed.arrays["layers.0.attn.pattern"][1, 2, :5], 0.2)
    for name in ("embed.out", "layers.0.attn.in"):
        assert np.array_equal(changed.arrays[name], plain.arrays[name])
    for name in ("layers.0.attn.out", "layers.2.out", "final"):
        assert not np.allclose(changed.arrays[name], plain.arrays[name], atol=1e-4)
    with pytest.raises(ValueError, match="read-only"):
        changed.arrays["final"][...] = 0


def test_without_interventions_or_at_strength_0_the_trace_is_a_plain_one() -> None:
    zeros = several("1.2:zero~0 positions:shuffle_1~0")
    for interventions in ([], zeros):
        trace = intervention_trace(
            ENCODER, BATCH, 0, [interventions], seed=0, causal=False, sources=None, keep=lambda name: True
        )
        assert type(trace) is Trace
    plain, same = run(ENCODER, BATCH), run(ENCODER, BATCH, interventions=zeros)
    assert all(np.array_equal(plain.arrays[name], same.arrays[name]) for name in plain.arrays)


@pytest.mark.parametrize("causal", [False, True])
def test_a_patch_from_another_sentence_makes_its_run(causal: bool) -> None:
    other = run(ENCODER, BATCH, 1, causal=causal)
    changed = run(ENCODER, BATCH, 0, causal=causal, interventions=[made("embed:patch_*_2")])
    assert np.array_equal(changed.arrays["final"], other.arrays["final"])
    assert changed.tokens != other.tokens


@pytest.mark.parametrize(("d_model", "n_heads", "n_tokens"), [(384, 12, 32), (384, 12, 256), (64, 64, 128)])
def test_what_a_pass_holds_stays_within_the_budget(d_model: int, n_heads: int, n_tokens: int) -> None:
    config = ModelConfig(vocab_size=10, d_model=d_model, n_heads=n_heads, d_ff=4 * d_model)
    rows = variant_runs.rows_at_once(config, n_tokens)
    assert rows == 1 or rows * max(n_tokens * config.d_ff, n_heads * n_tokens**2) <= variant_runs.MAX_AT_ONCE
