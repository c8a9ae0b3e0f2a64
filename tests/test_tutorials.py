"""The five are compared with the same weights and words, and each demonstration returns what we compute ourselves."""

import math
import re
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import torch

from playground import Encoder, tutorials
from playground.mistakes.registry import MISTAKES
from playground.model import Trace
from playground.presets import PRESETS
from playground.tutorials import (
    NAMES,
    PAPER,
    SIZES,
    TUTORIALS,
    apart_by,
    by_point,
    effects,
    find_unusual,
    point_names,
    read_properties,
    small_config,
    trace_all,
)
from tests.model.reference import sinusoid
from tests.written_numbers import read_number

TRACES = trace_all(0)
FINAL = {letter: trace["final"] for letter, trace in TRACES.items()}


@pytest.mark.parametrize("letter", NAMES)
def test_small_variants_keep_all_but_the_sizes_and_the_unfused_have_the_same_weights(letter: str) -> None:
    small, preset = small_config(letter), PRESETS[NAMES[letter]].config
    positions = "sinusoidal" if letter == "C" else preset.positions
    assert small == replace(preset, **SIZES, positions=positions, initialisation="xavier")
    ours, theirs = (Encoder(small_config(each), 3).state_dict() for each in (letter, PAPER))
    for name, tensor in ours.items():
        if "norm" in name:
            assert torch.equal(tensor, torch.ones_like(tensor) * name.endswith("gain"))
        else:
            assert letter == "C" or torch.equal(tensor, theirs[name])


def test_no_two_of_the_five_give_the_same_numbers() -> None:
    assert min(apart_by(one, other) for one, other in combinations(FINAL.values(), 2)) > 0.1


def test_the_points_are_those_of_a_trace_in_order_and_each_leaves_the_paper_where_its_architecture_does() -> None:
    for letter in "CDE":  # post-norm, in whose order they are listed
        places = [list(TRACES[letter]).index(name) for name in point_names()]
        assert places == sorted(places)
    for letter, values in by_point(0).items():
        off = [(TRACES[letter][name] - TRACES["E"][name]).abs().max().item() for name in point_names()]
        np.testing.assert_allclose(values, off, rtol=1e-6)
    assert {letter: point_names()[int((values > 1e-9).argmax())] for letter, values in by_point(0).items()} == {
        "A": "layers.0.attn.pattern",  # it normalises before it attends
        "B": "embed.out",  # other positions
        "C": "layers.0.attn.out",  # the merge comes after the values
        "D": "layers.0.ffn.out",  # another activation
    }


def test_the_effects_are_those_of_the_fields_that_differ_each_tried_alone() -> None:
    found = effects(0)
    assert list(found) == [
        ("A", "norm_placement"), ("A", "norm"), ("A", "norm_eps"), ("A", "final_norm"), ("B", "positions"),
        ("C", "fused_qkv"), ("C", "head_merge"), ("D", "final_norm"), ("D", "activation"),
    ]  # fmt: skip
    assert found["C", "fused_qkv"] <= 1e-9
    # Where one field alone changes numbers, it is the whole difference.
    assert found["B", "positions"] == pytest.approx(apart_by(FINAL["B"], FINAL["E"]))
    assert found["C", "head_merge"] == pytest.approx(apart_by(FINAL["C"], FINAL["E"]))


# Written out once by hand, from the description of the tutorials; the order of cells is A to E.
EXPECTED = {
    "embedding": ["lookup × √d_model", "none: raw vectors", "none: raw vectors", *["lookup × √d_model"] * 2],
    "positions": ["sinusoidal", "sinusoidal, exponent doubled", "none", "sinusoidal", "sinusoidal"],
    "norm placement": ["pre-norm", *["post-norm"] * 4],
    "norm": ["one gain, one bias; unbiased deviation", *["a gain and a bias per feature; biased deviation"] * 4],
    "eps of the norm": ["10⁻⁶, added to the deviation", *["10⁻⁵, added to the variance"] * 4],
    "norm after the last block": ["yes", "no", "no", "yes", "no"],
    "activation": ["ReLU", "ReLU", "ReLU", "GELU", "ReLU"],
    "merging heads": [*["transpose, then reshape"] * 2, "reshape alone", *["transpose, then reshape"] * 2],
    "Q, K, V projections": ["three", "three", "one fused, head by head", "three", "three"],
    "d_model, heads, layers, d_ff": ["512, 8, 6, 2,048", "16, 4, 1, 64", "512, 8, 5, 2,048", *["512, 8, 6, 2,048"] * 2],
    "vocabulary": ["5", "–", "–", "10,000", "10,000"],
    "parameters": ["18,904,602", "3,280", "15,761,920", "24,035,328", "24,034,304"],
}


@pytest.mark.parametrize("name", EXPECTED)
def test_rows_say_what_the_presets_are(name: str) -> None:
    row = read_properties()[name]
    assert [row[letter] for letter in NAMES] == EXPECTED[name]


def test_what_stands_out_is_marked() -> None:
    unusual = {name: "".join(sorted(find_unusual(row))) for name, row in read_properties().items()}
    assert (unusual["embedding"], unusual["mask"], unusual["dropout"]) == ("BC", "BCD", "BCE")


def test_every_mistake_is_shown_if_there_is_something_to_compute() -> None:
    assert {letter: len(tutorial.flaws) for letter, tutorial in TUTORIALS.items()} == {
        "A": 5, "B": 2, "C": 4, "D": 5, "E": 10,
    }  # fmt: skip
    for flaw in (flaw for tutorial in TUTORIALS.values() for flaw in tutorial.flaws):
        assert flaw.happens.endswith(".") or (not flaw.happens and flaw.keys)
        assert not flaw.printed.endswith(".")
        assert not {"\n", "nan", "{"} & set(flaw.demonstrate().split())


def test_a_tutorials_mistakes_are_those_of_the_registry_that_name_it() -> None:
    named = {(letter, key) for letter, each in TUTORIALS.items() for flaw in each.flaws for key in flaw.keys}
    sources = {
        (letter, key)
        for key, mistake in MISTAKES.items()
        for letter in re.findall(r"^tutorial ([A-E]) ·", mistake.source)
    }
    assert named == sources


# --- demonstrations


def test_the_doubled_exponents_wavelengths() -> None:
    *written, off = tutorials.doubled_exponent()
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
    assert tutorials.leaking_merge() == ("1, 2, 4, 5", "5")


def test_masks() -> None:
    assert float(tutorials.mask_never_arrives()[0]) > 0.1
    assert tutorials.queries_masked_for_keys() == ("0.25, 0.25, 0.25, 0.25", 2, 0)


def test_post_norm_is_not_pre_norm_and_its_final_norm_idles() -> None:
    off, *written = tutorials.post_norm_called_pre()
    moved, eps = (read_number(str(each)) for each in written)
    assert float(off) > 0.1
    trace = Trace()
    tutorials.small_encoder(activation="gelu").encode(tutorials.normal(1, 6, 16), trace=trace)
    once = trace["layers.0.out"].numpy()
    twice = (once - once.mean(-1, keepdims=True)) / np.sqrt(once.var(-1, keepdims=True) + eps)
    assert moved == pytest.approx(np.abs(twice - once).max(), rel=0.02)


def test_attention_is_equivariant_and_not_invariant() -> None:
    in_place, by_token = map(float, tutorials.permuted_tokens())
    assert in_place > 1
    assert by_token < 1e-14


def test_norms() -> None:
    off, ratio = tutorials.scalar_norm()
    assert off == pytest.approx(0.13, abs=0.05)
    assert ratio == pytest.approx(math.sqrt(7 / 8))
    deviation, divisors_alone = tutorials.unbiased_deviation()
    variance = tutorials.normal(1, 512).numpy().var()
    assert deviation == pytest.approx(math.sqrt(512 / 511 * variance / (variance + 1e-5)), abs=1e-7)
    assert deviation != divisors_alone == math.sqrt(512 / 511)


def test_numbers_that_the_text_holds() -> None:
    told = " ".join(flaw.happens for tutorial in tutorials.TUTORIALS.values() for flaw in tutorial.flaws)
    assert f"{2 / (2 + math.e):.0%} of its attention" in told
    largest = math.log(np.finfo(np.float32).max)
    assert f"{sum(column > largest for column in range(0, 512, 2))} of 256 exponentials" in told
    bert, own = (PRESETS[name].config for name in ("bert-base", "tutorial-d"))
    assert f"{bert.n_layers} layers, d_model {bert.d_model}, {bert.n_heads} heads" in told
    assert f"not {own.n_layers}, {own.d_model} and {own.n_heads}" in told
