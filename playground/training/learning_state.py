"""What a network learns with, copied between two steps, so that a run can go on on another machine."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn


@dataclass(frozen=True, eq=False)
class LearningState:
    """Weights, the optimiser's averages, and the random generators' states; all of it on the CPU."""

    weights: dict[str, Tensor]
    optimizer: dict[str, Any]
    random: list[Tensor]


def copy_learning(
    network: nn.Module, optimizer: torch.optim.Optimizer, generators: Sequence[torch.Generator]
) -> LearningState:
    """A copy of what a network learns with; `generators` are those beside the network's own."""
    return LearningState(
        copy_to_cpu(dict(network.state_dict())),
        copy_to_cpu(optimizer.state_dict()),
        [each.get_state() for each in (*generators, *_own_generators(network))],
    )


def restore_learning(
    learning: LearningState,
    network: nn.Module,
    optimizer: torch.optim.Optimizer,
    generators: Sequence[torch.Generator],
) -> None:
    """Put a copy into an equal network, with an equal optimiser and equal generators."""
    network.load_state_dict(learning.weights)
    optimizer.load_state_dict(learning.optimizer)
    for each, state in zip((*generators, *_own_generators(network)), learning.random, strict=True):
        each.set_state(state)


def copy_to_cpu(nested: Any) -> Any:
    """A copy of tensors inside dictionaries, lists and tuples, on the CPU; all else in there as it is."""
    if isinstance(nested, Tensor):
        return nested.detach().to("cpu", copy=True)
    if isinstance(nested, dict):
        return {key: copy_to_cpu(value) for key, value in nested.items()}
    if isinstance(nested, list | tuple):
        return type(nested)(map(copy_to_cpu, nested))
    return nested


def _own_generators(network: nn.Module) -> list[torch.Generator]:
    """What a network's modules draw from while it trains, each once."""
    found = (value for module in network.modules() for value in vars(module).values())
    return list(dict.fromkeys(value for value in found if isinstance(value, torch.Generator)))
