"""Changes of one forward pass, as data: which numbers at which point of a trace become what.

Layers, heads, tokens and sentences count from 0. `strength` blends: 0 leaves the numbers as they are, 1 replaces them,
between them lies (1 − strength) · old + strength · new.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

Sublayer = Literal["attn", "ffn"]
RowKind = Literal["uniform", "diagonal", "copy"]
PatchPoint = Literal["embed", "q", "k", "v", "z", "attn", "mid", "ffn", "out"]

SUBLAYERS: tuple[Sublayer, ...] = get_args(Sublayer)
ROW_KINDS: tuple[RowKind, ...] = get_args(RowKind)

PATCH_POINTS: dict[PatchPoint, str] = {
    "embed": "embed.out",
    "q": "layers.{}.attn.q",
    "k": "layers.{}.attn.k",
    "v": "layers.{}.attn.v",
    "z": "layers.{}.attn.z",
    "attn": "layers.{}.attn.out",
    "mid": "layers.{}.resid_mid",
    "ffn": "layers.{}.ffn.out",
    "out": "layers.{}.out",
}
"""Where a token's vector can be replaced, in the order of computation, by the trace's names; `{}` is the layer."""

HEAD_POINTS: tuple[PatchPoint, ...] = ("q", "k", "v", "z")
"""Those of them that each head has of its own."""


def _name_head(layer: int, head: int | None) -> str:
    return f"layer {layer}, {'every head' if head is None else f'head {head}'}"


@dataclass(frozen=True)
class ZeroHead:
    """What a head has gathered, its z, is zero at every token (Michel et al. 2019, section 3.1).

    With every head of a layer at zero, attention still adds the bias of its output projection; `SkipSublayer` does not.
    """

    layer: int
    head: int | None
    """None: every head of the layer."""
    strength: float = 1.0

    @property
    def label(self) -> str:
        """What it changes, in a few words."""
        return f"{_name_head(self.layer, self.head)} off"


@dataclass(frozen=True)
class AverageHead:
    """What a head has gathered, its z, is at every token its mean over the sentence's tokens, padding left out."""

    layer: int
    head: int | None
    """None: every head of the layer, each with its own mean."""
    strength: float = 1.0

    @property
    def label(self) -> str:
        """What it changes, in a few words."""
        return f"{_name_head(self.layer, self.head)}: mean over tokens"


@dataclass(frozen=True)
class SkipSublayer:
    """A sublayer adds nothing to the residual stream: its output, biases included, is zero."""

    layer: int
    sublayer: Sublayer
    strength: float = 1.0

    @property
    def label(self) -> str:
        """What it changes, in a few words."""
        return f"layer {self.layer}: {'attention' if self.sublayer == 'attn' else 'feed-forward'} off"


@dataclass(frozen=True)
class SetWeight:
    """One query gives one key a chosen weight; 0 forbids the pair, 1 forces it."""

    layer: int
    head: int | None
    """None: every head of the layer."""
    query: int
    key: int
    weight: float
    renormalise: bool = True
    """True: before the softmax, so that the other keys share what is left of 1, in the proportions that they had.
    False: after it, so that the other weights stay, and the row no longer adds up to 1."""
    strength: float = 1.0

    @property
    def label(self) -> str:
        """What it changes, in a few words."""
        when = "before the softmax" if self.renormalise else "after the softmax"
        what = f"token {self.query} gives token {self.key} the weight {self.weight:g}, {when}"
        return f"{_name_head(self.layer, self.head)}: {what}"


@dataclass(frozen=True)
class HideToken:
    """No other token attends to this one: each such pair is forbidden before the softmax; it still attends to itself.

    Padding is no such token: its rows stay, though a merge that mixes positions carries them into the tokens'.
    With strength s, each of these weights is (1 − s) of what it was, and the query's other keys share the rest.
    """

    layer: int
    head: int | None
    """None: every head of the layer."""
    key: int
    strength: float = 1.0
    weight: ClassVar[float] = 0.0
    """Of each pair, as `SetWeight` has it; so is `renormalise`."""
    renormalise: ClassVar[bool] = True

    @property
    def label(self) -> str:
        """What it changes, in a few words."""
        return f"{_name_head(self.layer, self.head)}: token {self.key} hidden from the others"


@dataclass(frozen=True)
class SetRow:
    """What one query attends to, its row of the pattern, is set.

    `uniform`: evenly to every key that the mask allows; `diagonal`: to itself alone; `copy`: as in another head of the
    layer, before changes after the softmax.
    """

    layer: int
    head: int | None
    """None: every head of the layer."""
    query: int | None
    """None: every query."""
    row: RowKind
    source: int | None = None
    """The head that is copied; None unless `row` is `copy`."""
    strength: float = 1.0

    @property
    def label(self) -> str:
        """What it changes, in a few words."""
        who = "every token" if self.query is None else f"token {self.query}"
        what = {"uniform": "to all evenly", "diagonal": "to itself alone", "copy": f"as in head {self.source}"}
        return f"{_name_head(self.layer, self.head)}: {who} attends {what[self.row]}"


@dataclass(frozen=True)
class ShufflePositions:
    """The sentence's tokens are given each other's position vectors; padding keeps its own."""

    seed: int
    """Of the permutation, which is never that of no change."""
    strength: float = 1.0

    @property
    def label(self) -> str:
        """What it changes, in a few words."""
        return f"positions shuffled, seed {self.seed}"


@dataclass(frozen=True)
class PatchVector:
    """A token's vector at one point is the one that another run has there, at the same token.

    Known as activation patching and as interchange intervention (Vig et al. 2020; Geiger et al. 2021; Meng et al.
    2022, section 2).
    """

    layer: int | None
    """None at `embed`, which is before the first layer."""
    point: PatchPoint
    token: int | None
    """None: every token, padding included."""
    sentence: int
    """Whose untouched run the vector is from; that of the changed sentence itself restores what was there."""
    head: int | None = None
    """None: every head; else one, at `q`, `k`, `v` or `z`."""
    strength: float = 1.0

    @property
    def trace_name(self) -> str:
        """The point's name in a trace."""
        return PATCH_POINTS[self.point].format(self.layer)

    @property
    def label(self) -> str:
        """What it changes, in a few words."""
        where = "embedding" if self.layer is None else f"layer {self.layer}, {self.point}"
        head = "" if self.head is None else f" of head {self.head}"
        who = "every token" if self.token is None else f"token {self.token}"
        return f"{where}{head}: {who} as in sentence {self.sentence + 1}"


Intervention = ZeroHead | AverageHead | SkipSublayer | SetWeight | HideToken | SetRow | ShufflePositions | PatchVector


def first_layer(intervention: Intervention) -> int:
    """The layer in which an intervention changes something, -1 for the embeddings."""
    layer = None if isinstance(intervention, ShufflePositions) else intervention.layer
    return -1 if layer is None else layer
