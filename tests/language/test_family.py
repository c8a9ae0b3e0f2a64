"""The family: which architectures it has, what they weigh, and which of them is nearest to another one."""

from dataclasses import replace

from playground.config import ModelConfig
from playground.language.family import (
    STOPS,
    change,
    nearest_shipped,
    shipped_specs,
    single_changes,
)
from playground.language.network import BASE, Spec


def test_it_has_the_base_every_single_change_and_the_grids() -> None:
    shipped = shipped_specs()
    assert shipped[0] == Spec() == change()
    assert len(set(shipped)) == len(shipped) == len({spec.key for spec in shipped})
    changes = list(single_changes())
    assert len(changes) == sum(len(values) - 1 for values in STOPS.values())
    assert all(change(**{name: value}) in shipped for name, value in changes)
    assert change(n_layers=4, n_heads=8) in shipped
    assert change(n_layers=3, positions="none") in shipped
    assert change(n_layers=12, norm_placement="post") in shipped
    assert change(n_layers=12, n_heads=8) not in shipped


def test_a_change_brings_what_has_to_change_with_it() -> None:
    assert change(d_model=16).config.d_ff == 32
    assert change(d_model=8).config.head_width == 2
    assert not change(norm="none").config.final_norm
    assert not change(norm_placement="post").config.final_norm
    assert change(norm_placement="both").config.final_norm
    assert change(causal=True) == Spec(BASE, causal=True)
    for name, value in single_changes():
        spec = change(**{name: value})
        assert value == (spec.causal if name == "causal" else getattr(spec.config, name))


def test_the_nearest_differs_in_as_few_settings_as_there_can_be() -> None:
    assert nearest_shipped(BASE, causal=False) == Spec()
    for spec in shipped_specs():
        assert nearest_shipped(spec.config, causal=spec.causal) == spec

    def nearest(**settings: object) -> ModelConfig:
        return nearest_shipped(replace(BASE, **settings), causal=False).config  # type: ignore[arg-type]

    assert nearest(n_layers=5) in (replace(BASE, n_layers=4), replace(BASE, n_layers=6))
    assert nearest(d_model=32, n_layers=12).n_layers in (2, 12)
    assert nearest(positions="sinusoidal-doubled").positions in STOPS["positions"]
