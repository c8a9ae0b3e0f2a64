"""Changed inputs, unchanged targets: a way to keep a network from memorising its training set."""

import torch
from torch import Tensor

from playground.training.tasks.task import MASK_ID, SPECIALS


def mask_tokens(ids: Tensor, p: float, generator: torch.Generator) -> Tensor:
    """Show each token as [MASK] with probability p, padding and special tokens aside: (B, T) → (B, T).

    The generator is on the CPU; it draws as much if p is 0.
    """
    hidden = torch.rand(*ids.shape, generator=generator).to(ids.device) < p
    return ids.masked_fill(hidden & (ids >= len(SPECIALS)), MASK_ID)
