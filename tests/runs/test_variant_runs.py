"""Many variants in a few passes give what a run of each alone gives."""

import numpy as np
import pytest

from playground import Encoder, ModelConfig
from playground.errors import InterventionError, TooLargeError
from playground.model.changes import Change
from playground.runs import run, run_variants, variant_runs
from playground.text import characters
from tests.changes import made
from tests.model.reference import scramble

BATCH = characters().encode_batch(["a cat", "a dog", "a longer cat"])
FIELDS = {"vocab_size": characters().vocab_size, "d_model": 16, "n_heads": 4, "n_layers": 3, "d_ff": 32, "max_len": 16}
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
    config = ModelConfig(**FIELDS, norm_placement="pre" if pre else "post", final_norm=pre)  # type: ignore[arg-type]
    encoder = scramble(Encoder(config, seed=2))
    steps = list(run_variants(encoder, BATCH, 0, VARIANTS, causal=causal))
    assert sorted(number for step in steps for number in step.numbers) == list(range(len(VARIANTS)))
    for step in steps:
        for number, final in zip(step.numbers, step.final, strict=True):
            alone = run(encoder, BATCH, 0, causal=causal, interventions=VARIANTS[number])
            np.testing.assert_allclose(final[:5], alone.arrays["final"][:5], atol=1e-5)


def test_a_smaller_budget_takes_more_steps_to_the_same_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = Encoder(ModelConfig(**FIELDS), seed=2)  # type: ignore[arg-type]
    heads = [[Change("zero", layer, head)] for layer in range(3) for head in range(4)]
    whole = list(run_variants(encoder, BATCH, 2, heads))
    assert [len(step.numbers) for step in whole] == [4, 4, 4]
    one_row = variant_runs.MAX_AT_ONCE // variant_runs.rows_at_once(encoder.config, 12)
    monkeypatch.setattr(variant_runs, "MAX_AT_ONCE", 3 * one_row)
    cut = list(run_variants(encoder, BATCH, 2, heads))
    assert [len(step.numbers) for step in cut] == [3, 1, 3, 1, 3, 1]
    expected = np.concatenate([step.final for step in whole])
    np.testing.assert_allclose(np.concatenate([step.final for step in cut]), expected, atol=1e-5)
    monkeypatch.setattr(variant_runs, "MAX_AT_ONCE", 1)
    assert variant_runs.rows_at_once(encoder.config, 12) == 1


def test_what_a_pass_holds_stays_within_the_budget() -> None:
    for d_model, n_heads, n_tokens in ((384, 12, 32), (384, 12, 256), (64, 64, 128)):
        config = ModelConfig(vocab_size=10, d_model=d_model, n_heads=n_heads, d_ff=4 * d_model)
        rows = variant_runs.rows_at_once(config, n_tokens)
        largest = max(n_tokens * config.d_ff, n_heads * n_tokens**2)
        assert rows * largest <= variant_runs.MAX_AT_ONCE or rows == 1


def test_what_cannot_be_is_refused() -> None:
    encoder = Encoder(ModelConfig(**FIELDS), seed=2)  # type: ignore[arg-type]
    with pytest.raises(InterventionError, match="layers are 0 to 2"):
        list(run_variants(encoder, BATCH, 0, [[made("5.0:zero")]]))
    with pytest.raises(InterventionError, match="5 and 12 tokens"):
        list(run_variants(encoder, BATCH, 0, [[made("0.out:patch_0_3")]]))
    wide = ModelConfig(vocab_size=characters().vocab_size, d_model=96, n_heads=96, n_layers=6, d_ff=8)
    with pytest.raises(TooLargeError, match="would fit"):
        list(run_variants(Encoder(wide), characters().encode_batch(["x" * 256]), 0, [[]]))
    assert list(run_variants(encoder, BATCH, 0, [])) == []


def test_variants_go_on_from_a_run_that_is_at_hand() -> None:
    encoder = Encoder(
        ModelConfig(vocab_size=characters().vocab_size, d_model=16, n_heads=4, n_layers=3, d_ff=32), seed=5
    )
    variants = [[made(f"{layer}.1:cut_3_2")] for layer in (2, 0, 1)]
    for one, two in zip(
        run_variants(encoder, BATCH, 1, variants),
        run_variants(encoder, BATCH, 1, variants, untouched=run(encoder, BATCH, 1)),
        strict=True,
    ):
        assert one.numbers == two.numbers
        np.testing.assert_allclose(one.final, two.final, atol=1e-5)
