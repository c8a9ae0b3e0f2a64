"""Dropout made visible: where each tutorial drops, and one pass in train mode with every zero it made in a layer.

While training, each number becomes 0 with probability p, and the others are divided by 1 − p, so that sums stay the
same on average (Srivastava et al. 2014). In use, nothing is dropped.
"""

import copy
from collections.abc import Mapping
from dataclasses import dataclass

import torch

from playground.model import Encoder, dropout
from playground.runs.arrays import Array
from playground.runs.encoder_run import Run, run
from playground.runs.layer_run import is_of_layer
from playground.text import Batch

DROPOUT_PLACES = {
    "after positions": "embed.dropout",
    "attention weights": "layers.{}.attn.weight_dropout",
    "after attention": "layers.{}.attn.dropout",
    "inside the feed-forward": "layers.{}.ffn.hidden_dropout",
    "after the feed-forward": "layers.{}.ffn.dropout",
}
"""Where this model drops, in the order of the computation, and the name that a trace has for it; `{}` is the layer."""

TUTORIAL_DROPOUTS = {
    "A": tuple(DROPOUT_PLACES),
    "B": (),
    "C": ("after attention", "inside the feed-forward", "after the feed-forward"),
    "D": tuple(DROPOUT_PLACES),
    "E": ("after positions", "after attention", "inside the feed-forward", "after the feed-forward"),
}
"""Where each tutorial's own code drops."""


@dataclass(frozen=True)
class Drop:
    """What one dropout was given and what it handed on; their shapes are equal."""

    before: Array
    after: Array


@dataclass(frozen=True)
class DroppedRun:
    """A pass in train mode."""

    run: Run
    """Of its trace, what belongs to the layer."""
    drops: Mapping[str, Drop]
    """By place; (H, T, T) for attention weights, (T, d_ff) inside the feed-forward, else (T, D)."""


def run_with_dropout(
    encoder: Encoder, batch: Batch, sentence: int, layer: int, *, seed: int, causal: bool = False
) -> DroppedRun:
    """Run one sentence in train mode and keep one layer's dropouts; errors as in `encoder_run.run`.

    The encoder itself stays as it is, and so does torch's random state; on the same kind of device, the same seed drops
    the same numbers. It is that of the words' vectors too, where the encoder has no token table.
    """
    weights = (*encoder.parameters(), *encoder.buffers())
    private = copy.deepcopy(encoder, {id(tensor): tensor for tensor in weights})  # own modules, the same weights
    generator = torch.Generator(next(encoder.parameters()).device).manual_seed(seed)
    dropout.set_dropout(private, generators=dict.fromkeys(dropout.DROPOUT_POINTS, generator))
    result = run(private.train(), batch, sentence, seed=seed, causal=causal, keep=lambda name: is_of_layer(name, layer))
    names = {place: point.format(layer) for place, point in DROPOUT_PLACES.items()}
    drops = {place: Drop(result.arrays[f"{name}.in"], result.arrays[f"{name}.out"]) for place, name in names.items()}
    return DroppedRun(result, drops)
