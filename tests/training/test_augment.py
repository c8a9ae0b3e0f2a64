"""Augmentation changes what it says it changes, as often as it says, and nothing else."""

import pytest
import torch
from torch import Tensor

from playground.training.recipe import Recipe
from playground.training.tasks import make_data
from playground.training.tasks.task import MASK_ID
from playground.training.trainer import mask_tokens

DATA = make_data(Recipe(length=12, n_train=2_000, n_validation=1)).train


def masked(p: float, ids: Tensor = DATA.ids, seed: int = 0) -> Tensor:
    before = ids.clone()
    found = mask_tokens(ids, p, torch.Generator().manual_seed(seed))
    assert torch.equal(ids, before), "the batch itself must stay as it is"
    return found


def test_padding_and_special_tokens_are_never_touched() -> None:
    ids = DATA.ids.clone()
    ids[:, 3], ids[:, 5] = 1, 2
    ids = ids.masked_fill(~DATA.mask, 0)
    found, special = masked(0.95, ids), ids < 3
    assert torch.equal(found[special], ids[special])
    assert not torch.equal(found, ids)


@pytest.mark.parametrize("p", [0.05, 0.95])
def test_each_token_is_hidden_with_its_probability(p: float) -> None:
    found = masked(p)
    hidden = found == MASK_ID
    assert torch.equal(found[~hidden], DATA.ids[~hidden])
    n = int(DATA.mask.sum())
    assert abs(hidden.sum().item() - n * p) < 4 * (n * p * (1 - p)) ** 0.5
    together = (hidden[:, :-1] & hidden[:, 1:])[DATA.mask[:, 1:]].float().mean().item()
    assert together == pytest.approx(p * p, abs=0.02), "neighbours must be hidden independently"


def test_the_generator_decides() -> None:
    assert torch.equal(masked(0.0), DATA.ids)
    assert torch.equal(masked(0.3), masked(0.3))
    assert not torch.equal(masked(0.3), masked(0.3, seed=1))
