"""The family: which architectures it has, complete and small, the ladder, and a table that says what weights do."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from playground.config import ModelConfig
from playground.language import CAPABILITIES, family
from playground.language.learner import HELD_OUT_SENTENCES, measure
from playground.language.network import BASE, Spec
from playground.language.text import LONGEST


def test_it_has_the_base_every_single_change_and_the_grids() -> None:
    shipped = family.shipped_specs()
    assert shipped[0] == Spec() == family.change()
    assert len(set(shipped)) == len(shipped) == len({spec.key for spec in shipped})
    changes = list(family.single_changes())
    assert len(changes) == sum(len(values) - 1 for values in family.STOPS.values())
    assert all(family.change(**{name: value}) in shipped for name, value in changes)
    assert family.change(n_layers=4, n_heads=8) in shipped
    assert family.change(n_layers=3, positions="none") in shipped
    assert family.change(n_layers=12, norm_placement="post") in shipped
    assert family.change(n_layers=12, n_heads=8) not in shipped


def test_a_change_brings_what_has_to_change_with_it() -> None:
    assert family.change(d_model=16).config.d_ff == 32
    assert family.change(d_model=8).config.head_width == 2
    assert not family.change(norm="none").config.final_norm
    assert not family.change(norm_placement="post").config.final_norm
    assert family.change(norm_placement="both").config.final_norm
    assert family.change(causal=True) == Spec(BASE, causal=True)
    for name, value in family.single_changes():
        spec = family.change(**{name: value})
        assert value == (spec.causal if name == "causal" else getattr(spec.config, name))


def test_the_nearest_differs_in_as_few_settings_as_there_can_be() -> None:
    assert family.nearest_shipped(BASE, causal=False) == Spec()
    for spec in family.shipped_specs():
        assert family.nearest_shipped(spec.config, causal=spec.causal) == spec

    def nearest(**settings: object) -> ModelConfig:
        return family.nearest_shipped(replace(BASE, **settings), causal=False).config  # type: ignore[arg-type]

    assert nearest(n_layers=5) in (replace(BASE, n_layers=4), replace(BASE, n_layers=6))
    assert nearest(d_model=32, n_layers=12).n_layers in (2, 12)
    assert nearest(positions="sinusoidal-doubled").positions in family.STOPS["positions"]


def changed(before: ModelConfig, after: ModelConfig) -> dict[str, Any]:
    """The fields in which two encoders differ, as the second has them."""
    return {name: value for name, value in vars(after).items() if value != vars(before)[name]}


def test_each_rung_is_this_change_and_keeps_those_before_it() -> None:
    configs = [spec.config for spec in family.ladder_specs().values()]
    assert [changed(before, here) for before, here in pairwise(configs)] == [
        {"activation": "gelu"},
        {"positions": "learned"},
        {"norm": "rms"},
        {"norm_placement": "pre", "final_norm": True},
        {"gated": True, "d_ff": 96},
        {"window": LONGEST // 4, "global_every": 2},
        {"qk_norm": True},
        {"positions": "rotary"},
        {"bias": False},
        {"n_kv_heads": 2},
    ]
    assert configs[-1].rotary_base == BASE.rotary_base


SHIPPED = [spec for spec in family.shipped_specs() if family.is_shipped(spec)]


def test_the_table_has_every_measured_network_and_every_shipped_one_has_a_file() -> None:
    assert list(family.table()) == [spec.key for spec in family.measured_specs()]
    assert tuple(spec for spec in family.measured_specs() if family.is_shipped(spec)) == family.shipped_specs()
    assert all(row.shares.keys() == CAPABILITIES.keys() for row in family.table().values())


def test_the_files_are_those_of_the_table_and_take_16_mb_at_most() -> None:
    files = set(family.FOLDER.glob("*.safetensors"))
    assert files == {family.path_of(spec) for spec in SHIPPED}
    assert sum(path.stat().st_size for path in files) <= 16_000_000


def test_a_file_names_its_network_and_its_numbers() -> None:
    for spec in SHIPPED:
        trained = family.load_shipped(spec)
        assert (trained.spec, trained.shares) == (spec, family.table()[spec.key].shares)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("spec", SHIPPED[::3], ids=lambda spec: spec.key[:8])
def test_its_numbers_are_those_of_its_weights(spec: Spec) -> None:
    trained = family.load_shipped(spec)
    # Two sentences of 200 may be near ties that another machine rounds to the other side.
    assert measure(trained.network, spec) == pytest.approx(trained.shares, abs=2.01 / HELD_OUT_SENTENCES)
