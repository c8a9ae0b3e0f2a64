"""The ladder's rungs: each is one change, every encoder can be trained and opened, and the family's table has all."""

from itertools import pairwise
from typing import Any

from playground import ModelConfig
from playground.language.family import RUNGS, ladder_specs
from playground.language.network import BASE
from playground.language.text import LONGEST

SPECS = tuple(ladder_specs().values())


def changed(before: ModelConfig, after: ModelConfig) -> dict[str, Any]:
    """The fields in which two encoders differ, as the second has them."""
    return {name: value for name, value in vars(after).items() if value != vars(before)[name]}


def test_each_rung_is_this_change_and_keeps_those_before_it() -> None:
    configs = [spec.config for spec in SPECS]
    assert len(configs) == len(RUNGS) + 1 == 11
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
