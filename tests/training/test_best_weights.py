"""A best holds the best weights or the last good ones, and no others."""

import math

import pytest
import torch

from playground.training.best_weights import BestWeights


def test_a_keeper_forgets_what_is_no_number() -> None:
    network = torch.nn.Linear(1, 1)
    best = BestWeights(network, patience=0, guess_loss=1.0)
    best.update(network, 3, 1.0)
    good = network.weight.item()
    with torch.no_grad():
        network.weight.fill_(math.nan)
    best.update(network, 4, math.nan)
    assert best.restore(network, 5, diverged=True) == 3
    assert network.weight.item() == good


@pytest.mark.parametrize(
    ("patience", "losses", "ran_away", "kept"),
    [
        (0, [2.0, 1.0, 1.5, 9.0], False, 3),
        (0, [2.0, 1.0, 1.5, 9.0], True, 2),
        (0, [2.0, 3.0, 9.0], True, 1),  # no worse than guessing, 3 nats
        (0, [4.0, 3.5, 9.0], True, 1),  # no worse than the untrained network
        (0, [4.0, 5.0, 9.0], True, 0),
        (9, [2.0, 1.0, 1.5, 9.0], False, 1),
        (9, [2.0, 1.0, 1.5, 9.0], True, 1),
        (9, [math.nan, math.inf], True, 0),
    ],
)
def test_a_keeper_brings_back_the_best_or_the_last_good_ones(
    patience: int, losses: list[float], ran_away: bool, kept: int
) -> None:
    network = torch.nn.Linear(1, 1, bias=False).requires_grad_(False)
    network.weight.fill_(0)
    best = BestWeights(network, patience, guess_loss=3.0)
    for step, loss in enumerate(losses):
        network.weight.fill_(step)
        best.update(network, step, loss)
    assert best.restore(network, len(losses) - 1, diverged=ran_away) == kept
    assert network.weight.item() == kept


@pytest.mark.parametrize("patience", [0, 5])
def test_a_keeper_holds_one_copy(patience: int) -> None:
    network = torch.nn.Linear(1, 1)
    best = BestWeights(network, patience, guess_loss=1.0)
    for step, loss in enumerate((0.5, 0.9, 0.7)):
        best.update(network, step, loss)
    copies = [value[1] for value in vars(best).values() if isinstance(value, tuple)]
    assert len({id(tensor) for copy in copies for tensor in copy.values()}) == len(network.state_dict())
