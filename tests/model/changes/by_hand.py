"""A changed pass, and a second opinion: the plain pass with the same tensor changed by hand."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from playground import Encoder, Trace
from playground.model.changes import Change
from playground.model.interventions import InterventionTrace
from tests.model.plain_encoder import ByHand, Changes, encode
from tests.model.reference import scramble, small_config

IDS = torch.tensor([[1, 5, 2, 7, 0, 0]])
OTHER_IDS = torch.tensor([[3, 5, 8, 7, 0, 0]])
REAL = torch.tensor([[True] * 4 + [False] * 2])
VARIANTS: dict[str, dict[str, Any]] = {
    "post": {},
    "pre": {"norm_placement": "pre"},
    "fused": {"fused_qkv": True},
    "reshape": {"head_merge": "reshape", "norm_placement": "pre"},
}


def build(variant: str) -> Encoder:
    return scramble(Encoder(small_config(**VARIANTS[variant]), seed=3)).double()


def plain_forward(model: Encoder, changes: Changes) -> Tensor:
    """What the plain pass of IDS makes with these changes by hand, (T, D)."""
    return encode(model, IDS, REAL[:, None, None].expand(1, 1, 6, 6), changes=changes)[0][0]


def changed_trace(
    model: Encoder, rows: Sequence[Sequence[Change]], ids: Tensor = IDS, mask: Tensor = REAL
) -> InterventionTrace:
    """The trace of a batch whose rows are one sentence each with its own interventions; patches are from OTHER_IDS."""
    source = Trace()
    model(OTHER_IDS, mask, source)
    trace = InterventionTrace(
        rows,
        REAL.expand(len(rows), -1),
        positions=model.embed.position_vectors(ids.shape[1]),
        sources={1: {name: tensor[0] for name, tensor in source.items()}},
    )
    model(ids.expand(len(rows), -1), mask.expand(len(rows), *mask.shape[1:]), trace)
    return trace


def set_to(where: tuple[object, ...], new: Tensor | float, strength: float = 1.0) -> ByHand:
    """A change by hand of a part of a tensor."""

    def change(tensor: Tensor) -> Tensor:
        mixed = tensor.clone()
        mixed[where] = (1 - strength) * tensor[where] + strength * new  # type: ignore[index]
        return mixed

    return change


EVERY = slice(None)
PATTERN = "layers.1.attn.pattern"
