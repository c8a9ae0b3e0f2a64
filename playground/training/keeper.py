"""Which weights a run keeps, the last good ones or the best, and when it has waited long enough for better ones."""

import math

from torch import Tensor, nn


class Keeper:
    """Copies of a network's weights.

    Args:
        patience: evaluations without a lower validation loss until it is time to stop (early stopping, Prechelt 1998);
            0 waits for ever and does not ask for the best.
    """

    def __init__(self, patience: int) -> None:
        self.patience = patience
        self._waited = 0
        self._best_loss = math.inf
        self._good: tuple[int, dict[str, Tensor]] | None = None
        self._best: tuple[int, dict[str, Tensor]] | None = None

    def see(self, network: nn.Module, step: int, validation_loss: float) -> None:
        """Copy the weights after a step, unless their loss is no number."""
        if not math.isfinite(validation_loss):
            return
        self._good = step, {name: tensor.detach().clone() for name, tensor in network.state_dict().items()}
        self._waited += 1
        if validation_loss < self._best_loss:
            self._best, self._best_loss, self._waited = self._good, validation_loss, 0

    @property
    def out_of_patience(self) -> bool:
        """Whether it is time to stop."""
        return 0 < self.patience <= self._waited

    def restore(self, network: nn.Module, step: int, *, ran_away: bool) -> int:
        """Give a network that has done `step` steps the weights that it should end with; returns their step."""
        kept = self._best if self.patience else self._good if ran_away else None
        if kept is None:
            return step
        network.load_state_dict(kept[1])
        return kept[0]
