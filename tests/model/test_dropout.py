"""Dropout draws from its own generator, keeps the mean, and can be set place by place."""

import pytest
import torch
from torch import Tensor

from playground import Encoder, EncoderDecoder
from playground.model.init import DROPOUT_POINTS, Dropout, Point, set_dropout
from tests.model.reference import small_config

CONFIG = small_config(dropout=0.0, max_len=9)
IDS = torch.arange(9)[None]


def dropped(x: Tensor, p: float, seed: int = 0) -> Tensor:
    dropout = Dropout(p, "residual")
    dropout.generator = torch.Generator().manual_seed(seed)
    return dropout(x)  # type: ignore[no-any-return]


def test_a_share_of_p_is_dropped_the_mean_stays_and_the_gradient_goes_the_same_way() -> None:
    x = torch.ones(400, 500, requires_grad=True)
    after = dropped(x, 0.3)
    after.sum().backward()  # type: ignore[no-untyped-call]
    assert after.mean().item() == pytest.approx(1, abs=0.01)
    assert (after == 0).float().mean().item() == pytest.approx(0.3, abs=0.01)
    torch.testing.assert_close(after[after != 0], torch.full_like(after[after != 0], 1 / 0.7))
    torch.testing.assert_close(x.grad, after.detach())


def test_the_same_seed_drops_the_same_whatever_torchs_own_generator_did() -> None:
    one, state = dropped(torch.ones(30), 0.5, seed=3), torch.get_rng_state()
    assert torch.equal(one, dropped(torch.ones(30), 0.5, seed=3))
    assert not torch.equal(one, dropped(torch.ones(30), 0.5, seed=4))
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("point", DROPOUT_POINTS)
@pytest.mark.parametrize("pair", [False, True], ids=["encoder", "encoder-decoder"])
def test_each_place_is_set_alone(point: Point, pair: bool) -> None:
    model = EncoderDecoder(CONFIG, tgt_vocab_size=9) if pair else Encoder(CONFIG)
    set_dropout(model, {point: 0.5}, {point: torch.Generator().manual_seed(1)})
    places = [module for module in model.modules() if isinstance(module, Dropout)]
    assert {module.point for module in places} == set(DROPOUT_POINTS)
    assert all(module.p == (0.5 if module.point == point else 0) for module in places)
    ids = (IDS, IDS) if pair else (IDS,)
    usual = model(*ids)
    assert not torch.allclose(model.train()(*ids), usual)
    set_dropout(model, {point: 0.0})
    torch.testing.assert_close(model(*ids), usual)
