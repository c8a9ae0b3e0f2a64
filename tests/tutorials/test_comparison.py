"""The comparison is fair: the same weights and words for all, so that what is left is the architecture."""

import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from playground.mistakes.registry import MISTAKES
from playground.presets import PRESETS
from playground.tutorials.comparison import (
    APART,
    NAMES,
    SIZES,
    apart_by,
    build,
    by_point,
    causes,
    find_unusual,
    first_apart,
    matrix,
    point_names,
    read_properties,
    small_config,
    trace_all,
    trace_of,
)
from playground.tutorials.demonstrations import TUTORIALS

TRACES = trace_all(0)


@pytest.mark.parametrize("letter", NAMES)
def test_small_variants_keep_all_but_the_sizes(letter: str) -> None:
    small, preset = small_config(letter), PRESETS[NAMES[letter]].config
    positions = "sinusoidal" if letter == "C" else preset.positions
    assert small == replace(preset, **SIZES, positions=positions, initialisation="xavier")


@pytest.mark.parametrize("letter", "ABDE")
def test_all_unfused_variants_have_the_same_weights(letter: str) -> None:
    ours, theirs = build(small_config(letter), 3).state_dict(), build(small_config("E"), 3).state_dict()
    for name, tensor in ours.items():
        if "norm" in name:
            assert torch.equal(tensor, torch.ones_like(tensor) * name.endswith("gain"))
        else:
            assert torch.equal(tensor, theirs[name])


def test_no_two_of_the_five_give_the_same_numbers() -> None:
    distances = matrix(TRACES)
    assert np.array_equal(distances, distances.T)
    assert not distances.diagonal().any()
    assert distances[~np.eye(5, dtype=bool)].min() > 0.1


def test_the_points_are_those_of_a_trace_in_order_and_every_one_is_compared() -> None:
    for letter in "CDE":  # post-norm, in whose order they are listed
        places = [list(TRACES[letter]).index(name) for name in point_names()]
        assert places == sorted(places)
    differences = by_point(TRACES, "B")
    assert list(differences) == ["A", "C", "D", "E"]
    for letter, values in differences.items():
        off = [(TRACES[letter][name] - TRACES["B"][name]).abs().max().item() for name in point_names()]
        np.testing.assert_allclose(values, off, rtol=1e-6)


def test_each_leaves_the_paper_where_its_architecture_does() -> None:
    starts = {letter: first_apart(values) for letter, values in by_point(TRACES, "E").items()}
    assert starts == {
        "A": "layers.0.attn.pattern",  # it normalises before it attends
        "B": "embed.out",  # other positions
        "C": "layers.0.attn.out",  # the merge comes after the values
        "D": "layers.0.ffn.out",  # another activation
    }


def test_the_causes_are_the_fields_that_differ_each_tried_alone() -> None:
    found = causes("E", 0)
    assert [(cause.letter, cause.field, cause.here) for cause in found] == [
        ("A", "norm_placement", "pre"),
        ("A", "norm", "scalar"),
        ("A", "norm_eps", 1e-6),
        ("A", "final_norm", True),
        ("B", "positions", "sinusoidal-doubled"),
        ("C", "fused_qkv", True),
        ("C", "head_merge", "reshape"),
        ("D", "final_norm", True),
        ("D", "activation", "gelu"),
    ]
    effects = {(cause.letter, cause.field): cause.effect for cause in found}
    assert effects["C", "fused_qkv"] <= APART
    # Where one field alone changes numbers, it is the whole difference.
    assert effects["B", "positions"] == pytest.approx(apart_by(TRACES["B"], TRACES["E"]))
    assert effects["C", "head_merge"] == pytest.approx(apart_by(TRACES["C"], TRACES["E"]))
    for cause in found:
        changed = trace_of(replace(small_config("E"), **{cause.field: cause.here}), 0)
        assert cause.effect == apart_by(changed, TRACES["E"])


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
