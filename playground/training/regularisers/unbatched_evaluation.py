"""How right a network is in use, where nobody pads its input for it, and nobody knows what comes later."""

from dataclasses import replace

import torch

from playground.training.evaluation import measure
from playground.training.history import Measure
from playground.training.losses import IGNORE
from playground.training.network import Network
from playground.training.recipe import Recipe
from playground.training.tasks.data import Examples


def measure_in_use(network: Network, examples: Examples, recipe: Recipe, device: torch.device) -> Measure:
    """Loss and accuracy with every sequence on its own, and with later characters hidden.

    With both masks that is what any batch measures; without one of them, it is what such a measurement hides.

    Args:
        network: in eval mode.
        examples: N sequences.
        recipe: what the network was trained with.
        device: where the network is.
    """
    masked = replace(recipe, causal=True, mask_padding=True)
    lengths, loss, right, n = examples.mask.sum(1), 0.0, 0.0, 0
    for length in sorted(set(lengths.tolist())):  # those of one length pad each other as little as one alone
        part = examples[(lengths == length).nonzero().flatten()]
        found, asked = measure(network, part, masked, device), int((part.targets != IGNORE).sum())
        loss, right, n = loss + asked * found.loss, right + asked * found.accuracy, n + asked
    return Measure(loss / max(n, 1), right / max(n, 1))
