"""Looking at a network while it learns: loss and accuracy over a set, and attention on one sequence."""

import torch
from torch import Tensor

from playground.config import ModelConfig
from playground.model import Trace
from playground.runs.arrays import stack_layers
from playground.runs.pair_run import ATTENTION_POINTS
from playground.training.history import Measure, Snapshot
from playground.training.losses import IGNORE
from playground.training.network import Network, Tagger, scores
from playground.training.recipe import Recipe
from playground.training.tasks.data import Data, Examples

N_LOOKS = 20
"""Evaluations of a run, the one before the first step not counted."""

MAX_KEPT = 8_000_000
"""Attention weights that a run keeps, over all snapshots."""

_TOKENS = 8_192
"""Of one pass while measuring."""


def look_steps(steps: int) -> frozenset[int]:
    """The steps after which a run of `steps` is looked at: evenly spaced, with the first and the last."""
    return frozenset(round(steps * i / N_LOOKS) for i in range(N_LOOKS + 1))


def snapshot_steps(config: ModelConfig, steps: int, data: Data) -> frozenset[int]:
    """Of these steps, those whose attention a run keeps: evenly spaced, with the first and the last.

    There are as many as `MAX_KEPT` allows, and none where it does not allow two.
    """
    sequence = data.validation[slice(0, 1)]
    n, n_target = sequence.ids.shape[1], sequence.targets.shape[1]
    pairs = n**2 if sequence.decoder_ids is None else n**2 + n_target**2 + n_target * n
    looks = sorted(look_steps(steps))
    n_kept = min(len(looks), MAX_KEPT // (config.n_layers * config.n_heads * pairs))
    if n_kept < 2:
        return frozenset()
    return frozenset(looks[round(i * (len(looks) - 1) / (n_kept - 1))] for i in range(n_kept))


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
    points = {"self": "encoder.layers.{}.attn.pattern"} if isinstance(network, Tagger) else ATTENTION_POINTS
    layers = range(network.config.n_layers)
    return Snapshot(step, {name: stack_layers(trace, point, layers) for name, point in points.items()})
