"""Each demonstration states what a computation of our own finds."""

import math
import re

import numpy as np
import pytest

from playground.model import Trace
from playground.tutorials import demonstrations
from playground.tutorials import demonstrations as show
from tests.model.reference import sinusoid
from tests.written_numbers import read_number


def numbers(text: str) -> list[float]:
    return [float(n.replace(",", "")) for n in re.findall(r"\d[\d,]*(?:\.\d+)?(?:e-\d+)?", text)]


def test_the_doubled_exponents_wavelengths() -> None:
    told = numbers(show.doubled_exponent())
    assert told[0] == 16
    doubled, standard = ([2 * math.pi * 10_000 ** (twice * 2 * i / 16) for i in range(5)] for twice in (2, 1))
    assert told[1:6] == pytest.approx(doubled, abs=0.05)
    assert told[6:11] == pytest.approx(standard, abs=0.05)
    tables = [
        np.array([[sinusoid(p, c, 16, doubled=doubled) for c in range(16)] for p in range(50)])
        for doubled in (True, False)
    ]
    growth = [doubled[1] / doubled[0], standard[1] / standard[0]]
    assert told[11:13] == [pytest.approx(growth[0]), pytest.approx(growth[1], abs=5e-4)]
    assert growth[0] == pytest.approx(growth[1] ** 2)
    assert told[13:] == [50, pytest.approx(np.abs(tables[0] - tables[1]).max(), abs=5e-4)]


def test_a_bare_reshape_leaks_the_last_token_to_earlier_ones() -> None:
    # Head h, token t, feature f of (H, T, d_head) lands in row (h·T·d_head + t·d_head + f) // d_model.
    rows = {(head * 6 * 4 + 5 * 4 + feature) // 16 for head in range(4) for feature in range(4)}
    assert show.changed_positions("reshape") == sorted(rows | {5}) == [1, 2, 4, 5]
    assert show.changed_positions("transpose") == [5]
    assert "positions 1, 2, 4, 5 change; with the transpose, only at 5." in show.leaking_merge()


def test_a_mask_of_ones_and_zeros_hides_nothing() -> None:
    assert numbers(show.mask_of_ones_and_zeros()) == [round(100 * 2 / (2 + math.e))]


def test_a_mask_would_have_moved_the_outputs() -> None:
    (off,) = numbers(show.mask_never_arrives())
    assert off > 0.1


def test_post_norm_is_not_pre_norm_and_its_final_norm_idles() -> None:
    told = show.post_norm_called_pre()
    off, moved, eps = map(read_number, re.findall(r"\d+(?:\.\d+)?(?:\s×\s10)?[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]*", told))
    assert off > 0.1
    trace = Trace()
    show.small_encoder(activation="gelu").encode(show.normal(1, 6, 16), trace=trace)
    once = trace["layers.0.out"].numpy()
    twice = (once - once.mean(-1, keepdims=True)) / np.sqrt(once.var(-1, keepdims=True) + eps)
    assert moved == pytest.approx(np.abs(twice - once).max(), rel=0.02)
    exact = (once - once.mean(-1, keepdims=True)) / once.std(-1, keepdims=True)
    assert np.abs(exact / exact.std(-1, keepdims=True) - exact).max() < 1e-14  # without ε, nothing is left to do


def test_attention_is_equivariant_and_not_invariant() -> None:
    in_place, by_token = numbers(show.permuted_tokens())
    assert in_place > 1
    assert by_token < 1e-14


def test_the_scalar_norm_is_off_by_the_ratio_of_deviations() -> None:
    eight, off, *ratio = numbers(show.scalar_norm())
    assert eight == 8
    assert off == pytest.approx(0.13, abs=0.05)
    assert ratio == [7, 8, 0.935]


def test_the_exponential_of_the_range_overflows() -> None:
    width, overflowed, total = numbers(show.exponent_before_scaling())
    largest = math.log(np.finfo(np.float32).max)
    assert (width, total) == (512, 256)
    assert overflowed == sum(column > largest for column in range(0, 512, 2))


def test_a_padded_key_stays_visible_when_queries_are_masked() -> None:
    told = show.queries_masked_for_keys()
    assert "(0.25, 0.25, 0.25, 0.25), and 2 later tokens still attend to it" in told
    assert "Masked by columns, 0 do" in told


def test_the_order_of_norms_and_dropout_change_tutorial_as_numbers() -> None:
    (apart,) = numbers(show.pre_norm_called_post())
    assert apart > 0.1
    with_dropout, without = numbers(show.dropout_left_on())
    assert with_dropout > 0.1
    assert without == 0


def test_dropout_on_the_weights_would_leave_rows_that_do_not_add_up_to_one() -> None:
    without, rate, least, most = numbers(show.no_dropout_on_weights())
    assert (without, rate) == (1, 0.1)
    assert least < 0.9 < 1.05 < most < 1 / (1 - rate) + 0.01


def test_unrelated_keys_do_not_know_a_tokens_own_place() -> None:
    *_, own, unrelated = numbers(show.unrelated_tensors())
    assert own > 0.5 > 2 * unrelated


def test_the_unbiased_deviation_after_a_norm_is_a_little_above_one_and_eps_has_a_share_in_it() -> None:
    width, deviation, *_, divisors_alone = numbers(show.unbiased_deviation())
    assert width == 512
    variance = show.normal(1, 512).numpy().var()
    assert deviation == round(math.sqrt(512 / 511 * variance / (variance + 1e-5)), 5)
    assert divisors_alone == round(math.sqrt(512 / 511), 5) != deviation


def test_bert_base_has_twice_the_notebooks_layers() -> None:
    ours, bert = numbers(show.layers_of_bert())[::3]
    assert (ours, bert) == (6, 12)


@pytest.mark.parametrize(
    ("demonstration", "error", "words"),
    [
        (
            demonstrations.odd_width,
            "RuntimeError",
            ["d_model 5 has 3 columns for sines and 2 for cosines", "(2)", "(3)"],
        ),
        (demonstrations.longer_than_the_table, "RuntimeError", ["(6)", "(5)"]),
        (demonstrations.called_a_number, "TypeError", ["'int' object is not callable"]),
        (demonstrations.logarithm_of_a_float, "TypeError", ["must be Tensor, not float"]),
        (demonstrations.without_superclass, "AttributeError", ["Norm(16) is built", "_backward_hooks"]),
        (demonstrations.built_instead_of_applied, "TypeError", ["dropout()", "must be Tensor, not ReLU"]),
        (demonstrations.swapped_arguments, "IndexError", ["(512, 10000)"]),
        (demonstrations.another_name, "AttributeError", ["'pe'"]),
        (demonstrations.called_a_flag, "TypeError", ["'bool' object is not callable"]),
    ],
)
def test_what_fails_fails_in_pythons_words(demonstration: object, error: str, words: list[str]) -> None:
    assert callable(demonstration)
    told = demonstration()
    assert f"{error}, `" in told
    assert all(word in told for word in words)


def test_an_attempt_that_works_is_no_demonstration() -> None:
    with pytest.raises(AssertionError, match="expected to fail"):
        demonstrations.raised(lambda: 1)
