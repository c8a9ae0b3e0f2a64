"""Dropout made visible: where each tutorial drops, and one pass in train mode with every zero it made in a layer.

While training, each number becomes 0 with probability p, and the others are divided by 1 − p, so that sums stay the
same on average (Srivastava et al. 2014). In use, nothing is dropped.
"""

import copy
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn

from playground.model import Encoder, dropout
from playground.model.blocks import EncoderBlock
from playground.runs.encoder_run import Array, Run, run
from playground.runs.layer_run import belongs
from playground.text import Batch

POINTS = (
    "after positions",
    "attention weights",
    "after attention",
    "inside the feed-forward",
    "after the feed-forward",
)
"""Where this model drops, in the order of the computation: the first once, the others in every layer."""

TUTORIALS = {
    "A": POINTS,
    "B": (),
    "C": ("after attention", "inside the feed-forward", "after the feed-forward"),
    "D": POINTS,
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
    """A pass in train mode.

    Attributes:
        run: the pass; of its trace, what belongs to the layer.
        drops: by point; (H, T, T) for attention weights, (T, d_ff) inside the feed-forward, else (T, D).
    """

    run: Run
    drops: Mapping[str, Drop]


def run_with_dropout(
    encoder: Encoder, batch: Batch, sentence: int, layer: int, *, seed: int, causal: bool = False
) -> DroppedRun:
    """Run one sentence in train mode and keep one layer's dropouts; errors as in `engine.run`.

    The encoder itself stays as it is, and so does torch's random state; on the same kind of device, the same seed drops
    the same numbers.
    """
    weights = (*encoder.parameters(), *encoder.buffers())
    private = copy.deepcopy(encoder, {id(tensor): tensor for tensor in weights})  # own modules, the same weights
    generator = torch.Generator(next(encoder.parameters()).device).manual_seed(seed)
    dropout.set_dropout(private, generators=dict.fromkeys(dropout.POINTS, generator))
    block, drops = cast(EncoderBlock, private.layers[layer]), dict[str, Drop]()
    modules = (
        private.embed.dropout,
        block.attn.weight_dropout,
        block.attn.dropout,
        block.ffn.hidden_dropout,
        block.ffn.dropout,
    )
    for point, module in zip(POINTS, modules, strict=True):
        module.register_forward_hook(functools.partial(_note, drops, point))
    result = run(private.train(), batch, sentence, causal=causal, keep=lambda name: belongs(name, layer))
    return DroppedRun(result, drops)


def _note(drops: dict[str, Drop], point: str, _module: nn.Module, before: tuple[Tensor], after: Tensor) -> None:
    drops[point] = Drop(_frozen(before[0]), _frozen(after))


def _frozen(tensor: Tensor) -> Array:
    array: Array = tensor[0].cpu().numpy()
    array.flags.writeable = False
    return array
