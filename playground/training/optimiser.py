"""What a step makes small and how, and which weights are kept: loss, optimiser, schedule, clipping, early stopping.

Legend: S scored positions, C classes.
"""

import math
from collections.abc import Iterable

import torch
from torch import Tensor, nn

from playground.model.init import Embedding, Linear
from playground.training.recipe import Recipe


def cross_entropy(logits: Tensor, targets: Tensor, smoothing: float = 0.0) -> Tensor:
    """−∑ₖ qₖ log softmax(logits)ₖ, in nats, averaged; q is 1 − ε + ε/C at the target and ε/C elsewhere.

    Logits are (S, C), targets (S,) int64, and ε is `smoothing`.
    Source: label smoothing, Szegedy et al. 2016, section 7; Vaswani et al. 2017, section 5.4 (ε = 0.1).
    """
    log_p = logits.log_softmax(dim=-1)  # (S, C)
    right = -log_p.gather(-1, targets[:, None]).mean()
    if smoothing == 0:
        return right
    return (1 - smoothing) * right - smoothing * log_p.mean()


def distillation(student: Tensor, teacher: Tensor, temperature: float) -> Tensor:
    """τ² KL(softmax(teacher/τ) ‖ softmax(student/τ)), in nats, averaged (Hinton et al. 2015, section 2).

    Both are logits (S, C). τ² keeps the gradient as large as the cross-entropy's, whatever the temperature.
    """
    log_p = (student / temperature).log_softmax(dim=-1)
    log_q = (teacher / temperature).log_softmax(dim=-1)
    return temperature**2 * (log_q.exp() * (log_q - log_p)).sum(dim=-1).mean()


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


class BestWeights:
    """A copy of a network's weights, to begin with the untrained ones.

    With patience it is of the best weights so far: those with the lowest validation loss. Without, it is of the last
    good ones: those with no higher validation loss than the untrained network, or than guessing, which costs
    ln(classes) nats, if that is worse. Patience is how many evaluations without a lower validation loss it takes until
    it is time to stop (early stopping, Prechelt 1998); 0 waits for ever.
    """

    def __init__(self, network: nn.Module, patience: int, guess_loss: float) -> None:
        self.patience = patience
        self._n_not_lower = 0
        self._lowest, self._highest_good = math.inf, guess_loss
        self._copy = 0, _copy_weights(network)

    def update(self, network: nn.Module, step: int, validation_loss: float) -> None:
        """Copy the weights after a step, of which 0 is the first, if they are better or good; the loss in nats."""
        if not math.isfinite(validation_loss):
            return
        if step == 0:
            self._highest_good = max(self._highest_good, validation_loss)
        is_lower = validation_loss < self._lowest
        self._lowest = min(self._lowest, validation_loss)
        self._n_not_lower = 0 if is_lower else self._n_not_lower + 1
        if is_lower if self.patience else validation_loss <= self._highest_good:
            self._copy = step, _copy_weights(network)

    @property
    def out_of_patience(self) -> bool:
        """Whether it is time to stop."""
        return 0 < self.patience <= self._n_not_lower

    def restore(self, network: nn.Module, step: int, *, diverged: bool) -> int:
        """Give a network that has done `step` steps the weights that it should end with; returns their step."""
        if not (self.patience or diverged):
            return step
        copied_step, weights = self._copy
        network.load_state_dict(weights)
        return copied_step


def _copy_weights(network: nn.Module) -> dict[str, Tensor]:
    return {name: tensor.detach().clone() for name, tensor in network.state_dict().items()}
