"""The step downhill: optimiser, learning-rate schedule, and the gradient's norm."""

import math
from collections.abc import Iterable

import torch
from torch import Tensor, nn

from playground.model.init import Embedding, Linear
from playground.training.recipe import Recipe


def build_optimizer(network: nn.Module, recipe: Recipe) -> torch.optim.Optimizer:
    """The recipe's optimiser; only matrices and tables decay, biases and norms keep their size."""
    decaying = {id(m.weight) for m in network.modules() if isinstance(m, Linear | Embedding) and recipe.weight_decay}
    parameters = list(network.parameters())
    groups = [
        {"params": [p for p in parameters if id(p) in decaying], "weight_decay": recipe.weight_decay},
        {"params": [p for p in parameters if id(p) not in decaying], "weight_decay": 0.0},
    ]
    groups = [group for group in groups if group["params"]]
    if recipe.optimizer == "sgd":
        return torch.optim.SGD(groups, recipe.lr, momentum=0.9, fused=True)
    kind = torch.optim.AdamW if recipe.optimizer == "adamw" else torch.optim.Adam
    return kind(groups, recipe.lr, betas=(0.9, 0.98), eps=1e-9, fused=True)  # Vaswani et al. 2017, section 5.3


def learning_rate(step: int, recipe: Recipe) -> float:
    """The learning rate of a step, counted from 1.

    The paper's own schedule is that with the peak 1 / √(d_model · warmup) (Vaswani et al. 2017, equation 3).
    """
    if recipe.schedule == "constant":
        return recipe.lr
    return recipe.lr * min(step / recipe.warmup, math.sqrt(recipe.warmup / step))


def clip_gradient(parameters: Iterable[Tensor], max_norm: float) -> Tensor:
    """The norm of the whole gradient, (); where it is above `max_norm`, all of the gradient is scaled down to it.

    Source: Pascanu et al. 2013, algorithm 1. With 0, it is only measured.
    """
    parameters = list(parameters)
    norm = torch.nn.utils.get_total_norm(p.grad for p in parameters if p.grad is not None)
    if max_norm > 0:
        torch.nn.utils.clip_grads_with_norm_(parameters, max_norm, norm)
    return norm
