"""The comparison is fair: the same weights and words for all, so that what is left is the architecture."""

import math
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
import torch

from playground import Encoder, ModelConfig
from playground.presets import PRESETS
from playground.tutorials.comparison import (
    APART,
    COMPARED_POINTS,
    SIZES,
    Cause,
    apart_by,
    build,
    by_point,
    causes,
    first_apart,
    matrix,
    point_names,
    position_share,
    small_config,
    trace_of,
)
from playground.tutorials.table import NAMES
from tests.tutorials.changes import change_field

TRACES = {letter: trace_of(small_config(letter), 0) for letter in NAMES}


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


def test_a_fused_variant_computes_the_same_queries_keys_and_values() -> None:
    config = small_config("E")
    fused, apart = trace_of(replace(config, fused_qkv=True), 1), trace_of(config, 1)
    assert list(fused) == list(apart)
    for name in apart:
        torch.testing.assert_close(fused[name], apart[name], rtol=0, atol=1e-12)


def test_another_seed_means_other_weights() -> None:
    config = small_config("E")
    assert apart_by(trace_of(config, 1), trace_of(config, 2)) > 0.1


@pytest.mark.parametrize("seed", [0, 1, 2**31 - 1])
def test_no_two_of_the_five_give_the_same_numbers(seed: int) -> None:
    distances = matrix({letter: trace_of(small_config(letter), seed) for letter in NAMES})
    assert distances.shape == (5, 5)
    assert np.array_equal(distances, distances.T)
    assert not distances.diagonal().any()
    assert distances[~np.eye(5, dtype=bool)].min() > 0.1


def test_the_points_are_those_of_a_trace_in_order() -> None:
    for letter in "CDE":  # post-norm, in whose order they are listed
        places = [list(TRACES[letter]).index(name) for name in point_names()]
        assert places == sorted(places)
    assert set(point_names()) <= set(TRACES["A"])
    assert len(point_names()) == 2 + SIZES["n_layers"] * len(COMPARED_POINTS)


@pytest.mark.parametrize("against", NAMES)
def test_every_point_is_compared(against: str) -> None:
    differences = by_point(TRACES, against)
    assert list(differences) == [letter for letter in NAMES if letter != against]
    for letter, values in differences.items():
        for name, value in zip(point_names(), values, strict=True):
            off = (TRACES[letter][name] - TRACES[against][name]).abs().max().item()
            assert value == pytest.approx(off, rel=1e-6)
        assert values[-1] == matrix(TRACES)[list(NAMES).index(letter), list(NAMES).index(against)]


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
    assert [(cause.letter, cause.field, cause.here, cause.there) for cause in found] == [
        ("A", "norm_placement", "pre", "post"),
        ("A", "norm", "scalar", "layer"),
        ("A", "norm_eps", 1e-6, 1e-5),
        ("A", "final_norm", True, False),
        ("B", "positions", "sinusoidal-doubled", "sinusoidal"),
        ("C", "fused_qkv", True, False),
        ("C", "head_merge", "reshape", "transpose"),
        ("D", "final_norm", True, False),
        ("D", "activation", "gelu", "relu"),
    ]
    effects = {(cause.letter, cause.field): cause.effect for cause in found}
    assert effects["C", "fused_qkv"] <= APART
    # Where one field alone changes numbers, it is the whole difference.
    assert effects["B", "positions"] == pytest.approx(apart_by(TRACES["B"], TRACES["E"]))
    assert effects["C", "head_merge"] == pytest.approx(apart_by(TRACES["C"], TRACES["E"]))
    for cause in found:
        changed = trace_of(replace(small_config("E"), **{cause.field: cause.here}), 0)
        assert cause.effect == apart_by(changed, TRACES["E"])


@pytest.mark.parametrize("against", NAMES)
def test_each_of_the_others_has_a_cause_that_changes_numbers(against: str) -> None:
    found = causes(against, 0)
    for letter in NAMES:
        mine: list[Cause] = [cause for cause in found if cause.letter == letter]
        assert any(cause.effect > APART for cause in mine) == (letter != against)


def test_torchs_tables_dwarf_tutorial_as_positions() -> None:
    assert position_share("torch", 0) == pytest.approx(0.03, abs=0.003)
    assert position_share("xavier", 0) == pytest.approx(0.71, abs=0.02)


def test_tables_drawn_here_have_the_deviation_that_the_page_names_and_not_glorots() -> None:
    table = Encoder(ModelConfig(vocab_size=1_000, d_model=64, n_heads=4, n_layers=1, d_ff=64)).embed.tokens
    assert table is not None
    assert float(table.weight.detach().std()) == pytest.approx(1 / math.sqrt(64), rel=0.01)
    assert math.sqrt(2 / (1_000 + 64)) < 0.4 / math.sqrt(64)


@pytest.mark.long
def test_every_field_but_sizes_and_dropout_is_looked_at() -> None:
    preset, config = PRESETS["tutorial-b"], PRESETS["tutorial-e"].config
    for field in ModelConfig.__dataclass_fields__.keys() - SIZES - {"dropout", "initialisation"}:
        changed = change_field(config, field)
        with mock.patch.dict(PRESETS, {"tutorial-b": replace(preset, config=changed)}):
            found = [(cause.field, cause.here) for cause in causes("E", 0) if cause.letter == "B"]
        assert found == [(field, getattr(changed, field))]
