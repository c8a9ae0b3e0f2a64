"""Each demonstration returns what a computation of our own finds."""

import math

import numpy as np
import pytest

from playground.model import Trace
from playground.presets import PRESETS
from playground.tutorials import demonstrations as show
from tests.model.reference import sinusoid
from tests.written_numbers import read_number


def test_the_doubled_exponents_wavelengths() -> None:
    *written, off = show.doubled_exponent()
    for text, twice in zip(written, (2, 1), strict=True):
        lengths = [float(number.replace(",", "")) for number in str(text).split(", ")]
        assert lengths == pytest.approx([2 * math.pi * 10_000 ** (twice * 2 * i / 16) for i in range(5)], abs=0.05)
    doubled, standard = (
        np.array([[sinusoid(p, c, 16, doubled=twice) for c in range(16)] for p in range(50)]) for twice in (True, False)
    )
    assert off == pytest.approx(np.abs(doubled - standard).max(), abs=5e-4)


def test_a_bare_reshape_leaks_the_last_token_to_earlier_ones() -> None:
    # Head h, token t, feature f of (H, T, d_head) lands in row (h·T·d_head + t·d_head + f) // d_model.
    rows = {(head * 6 * 4 + 5 * 4 + feature) // 16 for head in range(4) for feature in range(4)}
    assert sorted(rows | {5}) == [1, 2, 4, 5]
    assert show.leaking_merge() == ("1, 2, 4, 5", "5")


def test_masks() -> None:
    assert float(show.mask_never_arrives()[0]) > 0.1
    assert show.queries_masked_for_keys() == ("0.25, 0.25, 0.25, 0.25", 2, 0)


def test_post_norm_is_not_pre_norm_and_its_final_norm_idles() -> None:
    off, *written = show.post_norm_called_pre()
    moved, eps = (read_number(str(each)) for each in written)
    assert float(off) > 0.1
    trace = Trace()
    show.small_encoder(activation="gelu").encode(show.normal(1, 6, 16), trace=trace)
    once = trace["layers.0.out"].numpy()
    twice = (once - once.mean(-1, keepdims=True)) / np.sqrt(once.var(-1, keepdims=True) + eps)
    assert moved == pytest.approx(np.abs(twice - once).max(), rel=0.02)


def test_attention_is_equivariant_and_not_invariant() -> None:
    in_place, by_token = map(float, show.permuted_tokens())
    assert in_place > 1
    assert by_token < 1e-14


def test_norms() -> None:
    off, ratio = show.scalar_norm()
    assert off == pytest.approx(0.13, abs=0.05)
    assert ratio == pytest.approx(math.sqrt(7 / 8))
    deviation, divisors_alone = show.unbiased_deviation()
    variance = show.normal(1, 512).numpy().var()
    assert deviation == pytest.approx(math.sqrt(512 / 511 * variance / (variance + 1e-5)), abs=1e-7)
    assert deviation != divisors_alone == math.sqrt(512 / 511)


def test_numbers_that_the_text_holds() -> None:
    told = " ".join(flaw.happens for tutorial in show.TUTORIALS.values() for flaw in tutorial.flaws)
    assert f"{2 / (2 + math.e):.0%} of its attention" in told
    largest = math.log(np.finfo(np.float32).max)
    assert f"{sum(column > largest for column in range(0, 512, 2))} of 256 exponentials" in told
    bert, own = (PRESETS[name].config for name in ("bert-base", "tutorial-d"))
    assert f"{bert.n_layers} layers, d_model {bert.d_model}, {bert.n_heads} heads" in told
    assert f"not {own.n_layers}, {own.d_model} and {own.n_heads}" in told


def test_the_order_of_norms_and_dropout_change_numbers() -> None:
    assert float(show.pre_norm_called_post()[0]) > 0.1
    with_dropout, without = map(float, show.dropout_left_on())
    assert with_dropout > 0.1
    assert without == 0


def test_unrelated_keys_do_not_know_a_tokens_own_place() -> None:
    own, unrelated = map(float, show.unrelated_tensors())
    assert own > 0.5 > 2 * unrelated
