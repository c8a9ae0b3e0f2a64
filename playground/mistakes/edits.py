"""A pass with mistakes: wrong modules, and a trace that changes scores and weights."""

import copy
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from playground.model import Encoder, Trace
from playground.model.attention import over_heads
from playground.model.positions import window_mask

Edit = Callable[["Scores"], "Scores"]

MASKED = -1e8
"""Scores up to this one are masked: people fill with −∞, −1e9 or less."""


@dataclass(frozen=True)
class Scores:
    """A layer's attention between its projections and its weighted sum."""

    product: Tensor
    """q kᵀ / √d_head plus position bias, unmasked: (B, H, T, T)."""
    allowed: Tensor
    """(B, H, T, T) bool, True = may attend."""
    d_model: int
    d_head: int
    gives_nan: bool
    """Whether a fully masked row is NaN (−∞) or even (−1e9)."""
    axis: int = -1
    kept: Tensor | None = None
    """What is kept after the softmax; None: everything."""

    def masked(self) -> Tensor:
        """Return what the softmax reads."""
        return self.product.masked_fill(~self.allowed, -math.inf)

    def pattern(self) -> Tensor:
        """Return the weights."""
        scores = self.masked()
        empty = scores.isneginf().all(dim=self.axis, keepdim=True)
        pattern = scores.masked_fill(empty, math.nan if self.gives_nan else 0.0).softmax(dim=self.axis)
        return pattern if self.kept is None else pattern.masked_fill(~self.kept, 0.0)


@dataclass(frozen=True)
class Making:
    """How the model's own pass makes a mistake."""

    module: Callable[[Encoder], Encoder] | None = None
    """Return the encoder with the mistake; weights are shared."""
    scores: Edit | None = None
    drops: bool = False
    """Whether numbers are dropped at random, which is copied from somebody's tensors."""


@dataclass(frozen=True)
class Input:
    """The input of an encoder."""

    ids: Tensor
    """(B, T) int64, or raw vectors (B, T, d_model)."""
    mask: Tensor | None = None
    """As `Encoder.forward` takes it."""
    theirs: Mapping[str, Tensor] = field(default_factory=dict)
    """Somebody's tensors: dropout is copied from them; NaN among them means masking by −∞."""


class EditedTrace(Trace):
    """Record a pass, and change every layer's scores on the way.

    If a making drops, a tensor of `Input.theirs` replaces the model's if only dropout distinguishes them.
    `watch` gets each point's name and tensor, and may raise to end the pass.
    """

    def __init__(
        self, makings: Sequence[Making], encoder: Encoder, given: Input, watch: Callable[[str, Tensor], None]
    ) -> None:
        super().__init__()
        self._edits = [each.scores for each in makings if each.scores is not None]
        self._encoder, self._given, self._watch = encoder, given, watch
        self._dropped = given.theirs if any(each.drops for each in makings) else {}
        self._gives_nan = any(bool(tensor.isnan().any()) for tensor in given.theirs.values())
        self._current: list[Scores] = []
        self._factors: list[float] = []  # of the dropout of tensors that replaced the model's, all alike

    def scope(self, name: str) -> Trace:
        """Return a view that records and edits under `name.`."""
        child = copy.copy(self)
        child._prefix = f"{self._prefix}{name}."
        return child

    def apart(self) -> "EditedTrace":
        """Return a trace with the same names and edits, without tensors."""
        twin = copy.copy(self)
        twin._tensors, twin._watch = type(self._tensors)(), lambda name, tensor: None
        return twin

    def take_over(self, other: "EditedTrace", show: Callable[[str, Tensor], Tensor]) -> None:
        """Record another trace's tensors, each transformed by `show`."""
        for name, tensor in other.items():
            self._note(name, show(name.removeprefix(self._prefix), tensor))

    def record(self, name: str, tensor: Tensor) -> Tensor:
        """Record the tensor as the mistakes make it, and return that."""
        if self._edits and name == "scores":
            self._current[:] = [self._edit_scores(tensor)]
            tensor = self._current[0].masked()
        elif self._edits and name == "pattern":
            tensor = self._current[0].pattern()
        theirs = self._dropped.get(f"{self._prefix}{name}")
        factor = 0.0 if theirs is None else dropout_factor(theirs, tensor)
        if theirs is not None and factor and all(abs(factor - each) < 1e-3 for each in self._factors):
            self._factors.append(factor)
            tensor = theirs.to(tensor.dtype)
        return self._note(f"{self._prefix}{name}", tensor)

    def _note(self, name: str, tensor: Tensor) -> Tensor:
        self._watch(name, tensor)
        self._tensors[name] = tensor
        return tensor

    def _edit_scores(self, scores: Tensor) -> Scores:
        q, k = (self._tensors[f"{self._prefix}{name}"] for name in "qk")
        config, layer = self._encoder.config, int(self._prefix.split(".")[1])
        allowed = torch.ones_like(scores, dtype=torch.bool)
        mask = over_heads(self._given.mask, scores.shape[0], *scores.shape[-2:])
        if mask is not None:
            allowed &= mask
        if config.window_of(layer):
            allowed &= window_mask(scores.shape[-1], config.window, scores.device)
        product = (q / math.sqrt(config.head_width)) @ k.transpose(-2, -1) + self._tensors.get("position_bias", 0)
        edited = Scores(product, allowed, config.d_model, config.head_width, self._gives_nan)
        for edit in self._edits:
            edited = edit(edited)
        return edited


def dropout_factor(theirs: Tensor, ours: Tensor) -> float:
    """Return 1 / (1 − p) if `theirs` is `ours` after dropout with p, else 0."""
    if theirs.shape != ours.shape:
        return 0.0
    zero = (theirs == 0) & (ours != 0)
    kept = ~zero & (ours.abs() > 1e-3)
    if not (bool(zero.any()) and bool(kept.any())):
        return 0.0
    factor = float((theirs[kept].double() / ours[kept].double()).median())
    if not (factor > 1.01 and float((theirs.double() - factor * ours.double())[~zero].abs().max()) < 1e-3 * factor):
        return 0.0
    p, share = 1 - 1 / factor, float(zero.double().mean())
    return factor if abs(share - p) < 6 * math.sqrt(p * (1 - p) / zero.numel()) else 0.0


@torch.inference_mode()
def run_edited(
    encoder: Encoder,
    given: Input,
    making: Iterable[Making],
    watch: Callable[[str, Tensor], None] = lambda name, tensor: None,
) -> Mapping[str, Tensor]:
    """Return every intermediate of a pass with these mistakes, on the CPU."""
    makings, device = list(making), device_of(encoder)
    for each in makings:
        if each.module is not None:
            encoder = each.module(encoder)
    ids, mask = given.ids.to(device), None if given.mask is None else given.mask.to(device)
    theirs = {name: tensor.to(device) for name, tensor in given.theirs.items()}
    trace = EditedTrace(makings, encoder, Input(ids, mask, theirs), watch)
    if ids.is_floating_point():
        encoder.encode(encoder.embed_vectors(ids, trace), mask, trace)
    else:
        encoder(ids, mask, trace)
    return {name: tensor.cpu() for name, tensor in trace.items()}


def device_of(encoder: Encoder) -> torch.device:
    """Return where its weights are."""
    return next(encoder.parameters()).device
