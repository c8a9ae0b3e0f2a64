"""A copy is of the best weights or of the last good ones, and of no others."""

import math

import pytest
import torch

from playground.training.optimiser import BestWeights


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
        (0, [1.0, math.nan], True, 0),
    ],
)
def test_the_best_or_the_last_good_weights_come_back(
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
def test_there_is_one_copy(patience: int) -> None:
    network = torch.nn.Linear(1, 1)
    best = BestWeights(network, patience, guess_loss=1.0)
    for step, loss in enumerate((0.5, 0.9, 0.7)):
        best.update(network, step, loss)
    copies = [value[1] for value in vars(best).values() if isinstance(value, tuple)]
    assert len({id(tensor) for copy in copies for tensor in copy.values()}) == len(network.state_dict())
