"""The weights that a run ends with, the best or the last good ones, and when to stop waiting for better ones."""

import math

from torch import Tensor, nn


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
