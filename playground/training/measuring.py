"""Looking at a network while it learns: loss and accuracy over a set, and attention on one sequence."""

import torch
from torch import Tensor

from playground.model import Trace
from playground.seq2seq import POINTS, stacked
from playground.training.data import Data, Examples
from playground.training.history import Measure, Snapshot
from playground.training.losses import IGNORE
from playground.training.network import Network, Tagger, scores
from playground.training.recipe import Recipe

N_LOOKS = 20
"""Evaluations of a run, the one before the first step not counted."""

MAX_KEPT = 8_000_000
"""Attention weights that a run keeps, over all snapshots."""

_TOKENS = 8_192
"""Of one pass while measuring."""


def look_steps(steps: int) -> frozenset[int]:
    """The steps after which a run of `steps` is looked at: evenly spaced, with the first and the last."""
    return frozenset(round(steps * i / N_LOOKS) for i in range(N_LOOKS + 1))


def asked(logits: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    """The positions where something is asked: (B, T, C), (B, T) → (S, C), (S,)."""
    logits, targets = logits.flatten(0, 1), targets.flatten()
    where = targets != IGNORE
    return (logits, targets) if bool(where.all()) else (logits[where], targets[where])


def measure(network: Network, examples: Examples, recipe: Recipe, device: torch.device) -> Measure:
    """Loss and accuracy over all positions where something is asked; the network is in eval mode."""
    rows = max(1, _TOKENS // examples.ids.shape[1])
    loss, right, n = 0.0, 0, 0
    with torch.inference_mode():
        for start in range(0, len(examples.ids), rows):
            batch = examples[slice(start, start + rows)].to(device)
            logits, targets = asked(scores(network, batch, recipe), batch.targets)
            loss += torch.nn.functional.cross_entropy(logits, targets, reduction="sum").item()
            right += int((logits.argmax(dim=-1) == targets).sum())
            n += len(targets)
    return Measure(loss / max(n, 1), right / max(n, 1))


def snapshot(network: Network, data: Data, recipe: Recipe, step: int, device: torch.device) -> Snapshot:
    """Every head's attention on the first validation sequence."""
    trace = Trace(keep=lambda name: name.endswith(".pattern"))
    with torch.inference_mode():
        scores(network, data.validation[slice(0, 1)].to(device), recipe, trace)
    points = {"self": "encoder.layers.{}.attn.pattern"} if isinstance(network, Tagger) else POINTS
    return Snapshot(step, {name: stacked(trace, point, network.config.n_layers) for name, point in points.items()})


def keeps(snapshots: list[Snapshot], look: int) -> bool:
    """Whether the snapshot of the look with this number, from 0, is one to keep: few are, where attention is large."""
    if not snapshots:
        return True
    cells = sum(pattern.size for pattern in snapshots[0].patterns.values())
    affordable = max(2, MAX_KEPT // cells)
    return look % max(1, -(-N_LOOKS // (affordable - 1))) == 0
