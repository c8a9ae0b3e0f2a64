"""Changed inputs, unchanged targets: five ways against learning by heart. Legend: B sequences, T tokens."""

import torch
from torch import Tensor

from playground.model import Encoder
from playground.model.dropout import Dropout
from playground.model.trace import UNTRACED, Trace
from playground.training.recipe import Recipe
from playground.training.tasks import TASKS
from playground.training.tasks.task import MASK_ID, PAD_ID, SPECIALS

WINDOW = 4
"""Tokens shuffled together."""


def augment(ids: Tensor, recipe: Recipe, generator: torch.Generator, shuffler: torch.Generator) -> Tensor:
    """Shuffle windows, swap neighbours, mask tokens, mask a span, as the recipe says: (B, T) → (B, T).

    Padding and special tokens stay; where the next token is asked, none is moved. Each way's draws do not depend on the
    others.
    """
    can_move = not TASKS[recipe.task].predicts_next
    if recipe.shuffling > 0 and can_move:
        chosen, order = (torch.rand(*shape, generator=shuffler) for shape in ((len(ids), 1), ids.shape))
        ids = shuffle_windows(ids, (chosen < recipe.shuffling).to(ids.device), order.to(ids.device))
    shift, start = torch.rand(2, len(ids), 1, generator=generator).to(ids.device)
    swap, single = torch.rand(2, *ids.shape, generator=generator).to(ids.device)
    if recipe.token_swapping > 0 and can_move:
        ids = swap_neighbours(ids, shift < 0.5, swap < recipe.token_swapping)
    hidden = single < recipe.token_masking
    if recipe.span_masking > 0:
        hidden |= draw_span(ids != PAD_ID, recipe.span_masking, start)
    return ids.masked_fill(hidden & _is_ordinary(ids), MASK_ID)


def shuffle_windows(ids: Tensor, chosen: Tensor, order: Tensor) -> Tensor:
    """Reorder chosen (B, 1) sequences' tokens (B, T) within windows, by ascending `order` (B, T)."""
    places, movable = torch.arange(ids.shape[1], device=ids.device), _is_ordinary(ids) & chosen
    windows = places // WINDOW + order
    last = ids.shape[1] + places  # what stays is sorted behind every window, in its own order
    targets = torch.where(movable, places, last).argsort(dim=1, stable=True)  # the i-th place that is filled anew …
    sources = torch.where(movable, windows, last).argsort(dim=1, stable=True)  # … takes the i-th token in the new order
    return ids.scatter(1, targets, ids.gather(1, sources))


class NoisyDropout(Dropout):
    """Gaussian noise on embedded tokens in training, then dropout."""

    def __init__(self, p: float, std: float, generator: torch.Generator) -> None:
        super().__init__(p, "positions")
        self.std, self.noise_generator = std, generator

    def forward(self, x: Tensor, trace: Trace = UNTRACED, name: str = "dropout") -> Tensor:
        """x + std · N(0, 1); x in eval mode."""
        if self.training:
            x = x + self.std * torch.empty_like(x).normal_(generator=self.noise_generator)
        return super().forward(x, trace, name)


def add_noise(encoder: Encoder, std: float, generator: torch.Generator) -> None:
    """Let an encoder read noisy vectors in training."""
    if std > 0:
        before = encoder.embed.dropout
        encoder.embed.dropout = NoisyDropout(before.p, std, generator).train(before.training)


def swap_neighbours(ids: Tensor, from_odd: Tensor, chosen: Tensor) -> Tensor:
    """Exchange chosen pairs of tokens: 0 and 1, 2 and 3, …, or `from_odd` (B, 1), 1 and 2, …."""
    places, movable = torch.arange(ids.shape[1], device=ids.device), _is_ordinary(ids)
    begins = (places % 2 == from_odd) & chosen & movable & (places < ids.shape[1] - 1)  # (B, T)
    begins &= movable.roll(-1, 1)
    move = begins.to(torch.int64) - begins.roll(1, 1).to(torch.int64)  # the last position never begins a pair
    return ids.gather(1, places + move)


def draw_span(mask: Tensor, share: float, start: Tensor) -> Tensor:
    """A run of round(share · length) tokens of each sequence (B, T) bool, at `start` (B, 1) in [0, 1)."""
    lengths = mask.sum(1, keepdim=True)
    size = (share * lengths).round()
    first = (start * (lengths - size + 1)).floor()
    rank = mask.cumsum(1) - 1  # the token's number in its sequence
    return mask & (rank >= first) & (rank < first + size)


def _is_ordinary(ids: Tensor) -> Tensor:
    return ids >= len(SPECIALS)
