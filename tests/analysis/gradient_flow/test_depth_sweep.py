"""A sweep over depths gives the first numbers of each depth's own backward pass, in one process or in several."""

import pickle
from dataclasses import replace
from itertools import islice
from typing import Any
from unittest.mock import Mock

import pytest
import torch

from playground import ModelConfig
from playground.analysis import gradients
from playground.analysis.gradient_variants import (
    VARIANTS,
    DepthNorms,
    DepthSweep,
    SweepRequest,
    common_config,
    draw_weights,
    with_variant,
)
from playground.analysis.gradients import backward, map_gradient
from playground.text.batch import draw_vectors

IDS = (3, 1, 4, 1, 5)
DEPTHS = (1, 2, 4)
SMALL: dict[str, Any] = {"vocab_size": 7, "d_model": 8, "n_heads": 2, "d_ff": 12, "activation": "gelu"}


def request(**changes: Any) -> SweepRequest:
    config = common_config(ModelConfig(**SMALL | changes), 4)
    vectors = None if config.vocab_size else draw_vectors("abcdefg", 8, seed=2)
    return SweepRequest(config, 5, 1.4, IDS, DEPTHS, vectors, causal=True)


def norms(sweep: DepthSweep) -> DepthNorms:
    for _ in sweep.run():
        pass
    return sweep.state.norms


@pytest.mark.parametrize("changes", [{}, {"final_norm": True, "fused_qkv": True}, {"vocab_size": 0}], ids=str)
def test_each_depth_has_the_first_numbers_of_its_own_backward_pass(changes: dict[str, Any]) -> None:
    asked = request(**changes)
    found = norms(asked.build())
    assert tuple(found) == VARIANTS
    for variant, by_depth in found.items():
        assert tuple(by_depth) == DEPTHS
        for depth, of_parts in by_depth.items():
            model = with_variant(draw_weights(replace(asked.config, n_layers=depth), 5, 1.4), variant)
            flow = backward(model, torch.tensor(IDS), vectors=asked.vectors, causal=True)
            assert of_parts == {part: values[0] for part, values in flow.gradients.items()}


def test_all_depths_share_one_forward_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """And of the blocks behind the first, no parameter's gradient is asked."""
    through, forward = Mock(wraps=gradients.through_block), Mock(wraps=gradients._forward)
    monkeypatch.setattr(gradients, "through_block", through)
    monkeypatch.setattr(gradients, "_forward", forward)
    norms(replace(request(), variants=VARIANTS[:1]).build())
    assert forward.call_count == 1
    assert through.call_count == len(DEPTHS)
    assert len({id(call.args[0]) for call in through.call_args_list}) == 1


def test_the_parts_give_the_numbers_of_the_whole_wherever_they_go_on() -> None:
    asked = request()
    whole = norms(asked.build())
    parts = [pickle.loads(pickle.dumps(part)) for part in replace(asked, data=draw_weights(asked.config, 5, 1.4)).parts]
    assert [part.data for part in parts] == [None] * len(VARIANTS)
    states = []
    for part in parts:
        norms(sweep := part.build())
        states.append(sweep.state)
    assert asked.join([None] * len(parts)) is None
    half = asked.join([states[0], *[None] * (len(parts) - 1)])
    assert half is not None
    assert half.progress == pytest.approx(1 / 6)
    joined = asked.join(states)
    assert joined is not None
    assert (joined.norms, joined.progress) == (whole, 1.0)

    sweep = asked.build()
    assert len(list(islice(sweep.run(), 2))) == 2
    again = asked.build()
    again.restore(sweep.checkpoint())
    before = again.state.norms[VARIANTS[0]]
    assert norms(again) == whole
    assert again.state.norms[VARIANTS[0]] is before


def test_a_maps_gradient_is_that_of_its_weights_and_bias() -> None:
    """As autograd has it, for a sentence shorter and one longer than the map is wide, and for numbers far from 1."""
    generator = torch.Generator().manual_seed(0)
    for n_tokens, size in ((3, 1.0), (40, 1.0), (3, 1e-25), (3, 1e25)):
        x, g = (torch.randn(n_tokens, 5, generator=generator).double() for _ in range(2))
        weight, bias = torch.zeros(5, 5).double().requires_grad_(), torch.zeros(5).double().requires_grad_()
        found = torch.autograd.grad(torch.nn.functional.linear(x, weight, bias), (weight, bias), g)
        expected = float(sum((each**2).sum() for each in found)) * size**2
        assert map_gradient(x.float(), (g * size).float()) == pytest.approx(expected, rel=1e-5)
