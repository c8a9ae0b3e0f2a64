"""The ladder's rungs: each is one change, every encoder can be trained and opened, and the family's table has all."""

from itertools import pairwise
from typing import Any

from playground import ModelConfig
from playground.accounting import count_flops, count_parameters
from playground.language.ladder import RUNGS, climb, ladder_specs
from playground.language.network import BASE
from playground.language.text import LONGEST
from playground.views.parts import LARGE

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


def test_at_the_size_of_bert_a_gate_adds_no_weights_and_the_others_cost_what_they_should() -> None:
    costs = {}
    for rung, (before, here) in zip(RUNGS, pairwise(climb(LARGE, LARGE.max_len)), strict=True):
        parameters = count_parameters(here).total - count_parameters(before).total
        costs[rung.name] = (parameters, count_flops(here, 512).total - count_flops(before, 512).total)
    layers, d, d_ff = LARGE.n_layers, LARGE.d_model, LARGE.d_ff
    assert costs["GELU"] == (0, 0)
    assert costs["learned positions"] == (LARGE.max_len * d, 0)
    assert costs["RMS norm"] == (-2 * layers * d, 0)
    assert costs["pre-norm"] == (d, 0)
    assert costs["gated feed-forward"] == (layers * (2 * d_ff * 2 // 3 - d_ff), 0), "the biases of both maps"
    assert costs["local windows"][0] == 0 > costs["local windows"][1]
    assert costs["rotary positions"] == (-LARGE.max_len * d, 0)
    assert costs["grouped queries"][0] == -layers * d * d, "half of the keys' and values' maps"
