"""Changed inputs, unchanged targets: three ways to keep a network from learning its training set by heart.

Legend: B sequences, T tokens.
"""

import torch
from torch import Tensor

from playground.training.recipe import Recipe
from playground.training.tasks import TASKS
from playground.training.tasks.examples import MASK_ID, PAD_ID, SPECIALS


def augment(ids: Tensor, recipe: Recipe, generator: torch.Generator) -> Tensor:
    """Swap neighbours, then mask single tokens, then mask a span, each as far as the recipe says: (B, T) → (B, T).

    Padding and special tokens are never touched. Where the next token is asked, none is swapped: the answer is what
    stands one place further on, which a swap would show. All three draw from the generator, which is on the CPU and of
    nothing else, whether they are on or not: switching one on leaves to the others the draws that they had.
    """
    shift, start = torch.rand(2, len(ids), 1, generator=generator).to(ids.device)
    swap, single = torch.rand(2, *ids.shape, generator=generator).to(ids.device)
    if recipe.token_swapping > 0 and not TASKS[recipe.task].predicts_next:
        ids = swap_neighbours(ids, shift < 0.5, swap < recipe.token_swapping)
    hidden = single < recipe.token_masking
    if recipe.span_masking > 0:
        hidden |= draw_span(ids != PAD_ID, recipe.span_masking, start)
    return ids.masked_fill(hidden & _is_ordinary(ids), MASK_ID)


def swap_neighbours(ids: Tensor, from_odd: Tensor, chosen: Tensor) -> Tensor:
    """Exchange the tokens of chosen pairs: of positions 0 and 1, 2 and 3, …, or of 1 and 2, 3 and 4, ….

    Args:
        ids: (B, T); special tokens stay in place.
        from_odd: (B, 1) bool, whether a sequence's pairs begin at odd positions.
        chosen: (B, T) bool, read at the first position of each pair.
    """
    places, movable = torch.arange(ids.shape[1], device=ids.device), _is_ordinary(ids)
    begins = (places % 2 == from_odd) & chosen & movable & (places < ids.shape[1] - 1)  # (B, T)
    begins &= movable.roll(-1, 1)
    move = begins.to(torch.int64) - begins.roll(1, 1).to(torch.int64)  # the last position never begins a pair
    return ids.gather(1, places + move)


def draw_span(mask: Tensor, share: float, start: Tensor) -> Tensor:
    """One run of tokens of each sequence, round(share · its length) long, (B, T) bool.

    Args:
        mask: (B, T) bool, True = a token.
        share: of a sequence's tokens, at most 1.
        start: (B, 1) in [0, 1): every place where the run fits is equally likely.
    """
    lengths = mask.sum(1, keepdim=True)
    size = (share * lengths).round()
    first = (start * (lengths - size + 1)).floor()
    rank = mask.cumsum(1) - 1  # the token's number in its sequence
    return mask & (rank >= first) & (rank < first + size)


def _is_ordinary(ids: Tensor) -> Tensor:
    """Where a symbol or a character stands; the specials of a decoder never occur in what an encoder reads."""
    return ids >= len(SPECIALS)
