"""Which weights a run keeps, the best or the last good ones, and when it has waited long enough for better ones."""

import math

from torch import Tensor, nn


class Keeper:
    """A copy of a network's weights, to begin with the untrained ones.

    With patience it holds the best so far: those with the lowest validation loss. Without, it holds the last good
    ones: those with no higher validation loss than the untrained network, or than guessing if that is worse.

    Args:
        network: before its first step.
        patience: evaluations without a lower validation loss until it is time to stop (early stopping, Prechelt 1998);
            0 waits for ever.
        guess: the loss of guessing, ln(classes), in nats.
    """

    def __init__(self, network: nn.Module, patience: int, guess: float) -> None:
        self.patience = patience
        self._waited = 0
        self._lowest, self._highest_good = math.inf, guess
        self._kept = 0, _copy(network)

    def see(self, network: nn.Module, step: int, validation_loss: float) -> None:
        """Copy the weights after a step, of which 0 is the first, if they are to be kept; nats."""
        if not math.isfinite(validation_loss):
            return
        if step == 0:
            self._highest_good = max(self._highest_good, validation_loss)
        lower = validation_loss < self._lowest
        self._lowest = min(self._lowest, validation_loss)
        self._waited = 0 if lower else self._waited + 1
        if lower if self.patience else validation_loss <= self._highest_good:
            self._kept = step, _copy(network)

    @property
    def out_of_patience(self) -> bool:
        """Whether it is time to stop."""
        return 0 < self.patience <= self._waited

    def restore(self, network: nn.Module, step: int, *, ran_away: bool) -> int:
        """Give a network that has done `step` steps the weights that it should end with; returns their step."""
        if not (self.patience or ran_away):
            return step
        kept_step, weights = self._kept
        network.load_state_dict(weights)
        return kept_step


def _copy(network: nn.Module) -> dict[str, Tensor]:
    return {name: tensor.detach().clone() for name, tensor in network.state_dict().items()}
