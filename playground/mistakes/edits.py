"""A mistake made in the model's own pass: copies of its modules that share their weights, and a trace that changes it.

Most mistakes are another attribute or another method of one module; those inside of attention change what the trace is
handed, from which the pass goes on.
"""

import copy
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import torch
from torch import Tensor, nn

from playground.model import Encoder, Trace
from playground.model.attention import Attention, over_heads
from playground.model.blocks import EncoderBlock, FeedForward
from playground.model.positions import window_mask

Edit = Callable[["Scores"], "Scores"]
"""Changes how scores become a pattern."""

MASKED = -1e8
"""Scores from this one down are masked: people fill with −∞, −1e9 or the type's smallest number."""


@dataclass(frozen=True)
class Scores:
    """What one layer's attention computes between its projections and its weighted sum, as an edit may change it."""

    product: Tensor
    """q kᵀ / √d_head and what they get by distance, not masked: (B, H, T, T)."""
    allowed: Tensor
    """Who may attend to whom: (B, H, T, T), bool."""
    d_model: int
    d_head: int
    axis: int = -1
    """Along which the softmax adds up to 1."""
    kept: Tensor | None = None
    """What is kept of the pattern after the softmax; None: all of it."""
    gives_nan: bool = False
    """Whether a softmax of masked scores alone is NaN, as with −∞, or even, as with −1e9."""

    def masked(self) -> Tensor:
        """The scores that the softmax reads."""
        return self.product.masked_fill(~self.allowed, -math.inf)

    def pattern(self) -> Tensor:
        """The weights."""
        scores = self.masked()
        empty = scores.isneginf().all(dim=self.axis, keepdim=True)
        pattern = scores.masked_fill(empty, math.nan if self.gives_nan else 0.0).softmax(dim=self.axis)
        return pattern if self.kept is None else pattern.masked_fill(~self.kept, 0.0)


class EditedTrace(Trace):
    """Records a pass in which attention makes mistakes, and in which numbers were dropped as they were for somebody.

    Args:
        edits: of every layer's scores, in this order.
        encoder: whose pass it is.
        mask: of the pass, as `Encoder.forward` takes it.
        dropped: tensors by name, which take the place of the model's where they are the model's but for dropout.
        gives_nan: as of `Scores`.
        watch: told of each point's name and tensor; what it raises ends the pass.
    """

    def __init__(
        self,
        edits: Sequence[Edit],
        encoder: Encoder,
        mask: Tensor | None,
        dropped: Mapping[str, Tensor] | None = None,
        *,
        gives_nan: bool = False,
        watch: Callable[[str, Tensor], None] = lambda name, tensor: None,
    ) -> None:
        super().__init__()
        self._edits, self._encoder, self._mask = edits, encoder, mask
        self._dropped, self._gives_nan, self._watch = dropped or {}, gives_nan, watch
        self._current: list[Scores] = []
        self._factors: list[float] = []  # of what was taken over, all alike

    def scope(self, name: str) -> Trace:
        """Return a view that records and edits under `name.`."""
        child = copy.copy(self)
        child._prefix = f"{self._prefix}{name}."
        return child

    def apart(self) -> "EditedTrace":
        """Return a trace with the same names and edits, and no tensors yet."""
        twin = copy.copy(self)
        twin._tensors, twin._watch = type(self._tensors)(), lambda name, tensor: None
        return twin

    def take_over(self, other: "EditedTrace", show: Callable[[str, Tensor], Tensor]) -> None:
        """Note a trace's tensors as `show` makes them of a point's name and its tensor; nothing is edited."""
        for name, tensor in other.items():
            self._note(name, show(name.removeprefix(self._prefix), tensor))

    def record(self, name: str, tensor: Tensor) -> Tensor:
        """Note the tensor as the mistakes make it, and hand that on."""
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
        allowed = torch.ones_like(scores, dtype=torch.bool)
        given = over_heads(self._mask, scores.shape[0], *scores.shape[-2:])
        if given is not None:
            allowed &= given
        config, layer = self._encoder.config, int(self._prefix.split(".")[1])
        if config.window_of(layer):
            allowed &= window_mask(scores.shape[-1], config.window, scores.device)
        product = (q / math.sqrt(q.shape[-1])) @ k.transpose(-2, -1) + self._tensors.get("position_bias", 0)
        edited = Scores(product, allowed, self._encoder.config.d_model, q.shape[-1], gives_nan=self._gives_nan)
        for edit in self._edits:
            edited = edit(edited)
        return edited


def dropout_factor(theirs: Tensor, ours: Tensor) -> float:
    """Return 1 / (1 − p), by which a tensor is another one but for zeros, a share p of it; 0 if it is not so.

    A ReLU too many leaves zeros too, and the factor 1.
    """
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


# --- copies of modules, which share their weights


def copy_module(module: nn.Module, **attributes: Any) -> nn.Module:
    """The module with other attributes; parameters and parts are the same objects, unless they are among these."""
    twin = copy.copy(module)
    twin.__dict__ = dict(module.__dict__)
    twin._modules = dict(module._modules)
    twin._buffers = dict(module._buffers)
    for name, value in attributes.items():
        if isinstance(value, nn.Module):
            twin._modules[name] = value
        else:
            twin.__dict__[name] = value  # a function takes the place of the class's method
    return twin


def change_embeddings(encoder: Encoder, **attributes: Any) -> Encoder:
    """The encoder with other attributes of what embeds."""
    return cast(Encoder, copy_module(encoder, embed=copy_module(encoder.embed, **attributes)))


def change_blocks(encoder: Encoder, change: Callable[[EncoderBlock], nn.Module]) -> Encoder:
    """The encoder with each of its blocks changed."""
    blocks = nn.ModuleList(change(cast(EncoderBlock, block)) for block in encoder.layers)
    return cast(Encoder, copy_module(encoder, layers=blocks))


def change_attention(encoder: Encoder, change: Callable[[Attention], Mapping[str, Any]]) -> Encoder:
    """The encoder with other attributes of each block's attention."""
    return change_blocks(encoder, lambda block: copy_module(block, attn=copy_module(block.attn, **change(block.attn))))


def change_feed_forward(encoder: Encoder, change: Callable[[FeedForward], Mapping[str, Any]]) -> Encoder:
    """The encoder with other attributes of each block's feed-forward network."""
    return change_blocks(encoder, lambda block: copy_module(block, ffn=copy_module(block.ffn, **change(block.ffn))))


def change_norms(encoder: Encoder, change: Callable[[nn.Module], nn.Module]) -> Encoder:
    """The encoder with each of its norms changed."""
    changed = change_blocks(
        encoder, lambda block: copy_module(block, norm1=change(block.norm1), norm2=change(block.norm2))
    )
    if changed.embed.norm is not None:
        changed = change_embeddings(changed, norm=change(changed.embed.norm))
    if changed.final_norm is not None:
        changed = cast(Encoder, copy_module(changed, final_norm=change(changed.final_norm)))
    return changed


# --- a whole pass


@dataclass(frozen=True)
class Making:
    """How a mistake is made; either part may be nothing."""

    module: Callable[[Encoder], Encoder] | None = None
    """The encoder with the mistake, its weights shared."""
    scores: Edit | None = None
    """What is wrong between projections and weights."""
    drops: bool = False
    """Whether numbers were dropped at random: they can only be taken over from who dropped them."""


@dataclass(frozen=True)
class Input:
    """What an encoder reads."""

    ids: Tensor
    """(B, T) int64, or raw vectors (B, T, d_model)."""
    mask: Tensor | None = None
    """As `Encoder.forward` takes it."""
    theirs: Mapping[str, Tensor] = field(default_factory=dict)
    """Somebody's tensors by name, of which dropped numbers are taken over; NaN among them says that −∞ masks."""


@torch.inference_mode()
def run_edited(
    encoder: Encoder,
    given: Input,
    making: Iterable[Making],
    watch: Callable[[str, Tensor], None] = lambda name, tensor: None,
) -> Mapping[str, Tensor]:
    """Every intermediate of a pass that makes these mistakes, by its name in a trace, on the CPU; see `EditedTrace`."""
    making = list(making)
    encoder, edits = apply_makings(encoder, making)
    drops = given.theirs if any(each.drops for each in making) else {}
    device = device_of(encoder)
    ids, mask = given.ids.to(device), None if given.mask is None else given.mask.to(device)
    dropped = {name: tensor.to(device) for name, tensor in drops.items()}
    gives_nan = any(bool(tensor.isnan().any()) for tensor in given.theirs.values())
    trace = EditedTrace(edits, encoder, mask, dropped, gives_nan=gives_nan, watch=watch)
    if ids.is_floating_point():
        encoder.encode(encoder.embed_vectors(ids, trace), mask, trace)
    else:
        encoder(ids, mask, trace)
    return {name: tensor.cpu() for name, tensor in trace.items()}


def apply_makings(encoder: Encoder, makings: Sequence[Making]) -> tuple[Encoder, list[Edit]]:
    """The encoder with every wrong module in its place, and the edits of scores for its trace."""
    for each in makings:
        if each.module is not None:
            encoder = each.module(encoder)
    return encoder, [each.scores for each in makings if each.scores is not None]


def device_of(encoder: Encoder) -> torch.device:
    """Where its weights are."""
    return next(encoder.parameters()).device
