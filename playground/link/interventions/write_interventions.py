"""Changes of the computation as the text of a link's `do`.

They stand in a row with commas between them, each as place:what, or place:what~strength where the strength is not 1,
behind a minus sign where the visitor has switched it off.
Layers, heads and tokens count from 0, as in the link's `layer`, `head`, `query` and `key`; sentences count from 1, as
in its `sentence`. `*` is every head, or every token.

| text | what it means |
|-|-|
| `3.1:zero`, `3.*:zero` | head 1 of layer 3 at zero; every head of it |
| `3.1:mean` | the head at its mean over tokens |
| `3.attn:off`, `3.ffn:off` | a sublayer off; `3.*:off` is read as `3.attn:off` |
| `3.1:cut_4_7` | token 4 does not attend to token 7, before the softmax |
| `3.1:force_4_7` | token 4 attends to token 7 alone |
| `3.1:weight_4_7_0.25` | token 4 gives token 7 a weight of 0.25 |
| `3.1:cut_4_7_after`, … | the same after the softmax: the other weights stay |
| `3.1:hide_7` | no other token attends to token 7, before the softmax |
| `3.1:uniform_4`, `3.1:diagonal_*` | token 4 attends to all evenly; every token to itself alone |
| `3.1:copy_4_0` | token 4 attends as in head 0 |
| `positions:shuffle_7` | positions shuffled with seed 7 |
| `embed:patch_4_2`, `3.mid:patch_4_2` | token 4's vector is that of sentence 2, at that point of layer 3 |
| `3.1.z:patch_*_2` | the same for one head's vectors, of every token |
| `-3.1:zero` | not made, but kept to be switched on again |
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from playground.model.interventions import (
    AverageHead,
    HideToken,
    Intervention,
    PatchVector,
    SetRow,
    SetWeight,
    ShufflePositions,
    SkipSublayer,
    ZeroHead,
)

SEPARATOR = ","

OFF = "-"
"""What a change that is switched off begins with."""


class Change(NamedTuple):
    """An intervention as the visitor has it on the page: switched on, or kept to be switched on again."""

    intervention: Intervention
    is_on: bool = True


@dataclass(frozen=True)
class Changes:
    """The visitor's changes in their order: what the link's `do` is once it is read, and what the session holds.

    As a string it is the link's text; it is false where there is none.
    """

    made: tuple[Change, ...] = ()

    def __str__(self) -> str:
        return write_changes(self.made)

    def __bool__(self) -> bool:
        return bool(self.made)


def write_changes(changes: Iterable[Change]) -> str:
    """The text of a link's `do` for changes in their order; empty for none."""
    return SEPARATOR.join(f"{'' if is_on else OFF}{write_intervention(each)}" for each, is_on in changes)


def write_intervention(intervention: Intervention) -> str:
    """One of them, such as `3.1:zero~0.5`."""
    strength = "" if intervention.strength == 1 else f"~{_write_share(intervention.strength)}"
    return f"{_place(intervention)}:{_what(intervention)}{strength}"


def _place(intervention: Intervention) -> str:
    match intervention:
        case ShufflePositions():
            return "positions"
        case SkipSublayer(layer=layer, sublayer=sublayer):
            return f"{layer}.{sublayer}"
        case PatchVector(layer=layer, point=point, head=head):
            return ".".join(str(part) for part in (layer, head, point) if part is not None)
        case _:
            return f"{intervention.layer}.{_write_number(intervention.head)}"


def _what(intervention: Intervention) -> str:
    match intervention:
        case ZeroHead():
            return "zero"
        case AverageHead():
            return "mean"
        case SkipSublayer():
            return "off"
        case ShufflePositions(seed=seed):
            return f"shuffle_{seed}"
        case PatchVector(token=token, sentence=sentence):
            return f"patch_{_write_number(token)}_{sentence + 1}"
        case HideToken(key=key):
            return f"hide_{key}"
        case SetRow(query=query, row=row, source=source):
            return f"{row}_{_write_number(query)}{'' if source is None else f'_{source}'}"
        case SetWeight(query=query, key=key, weight=weight, renormalise=renormalise):
            word = {0.0: "cut", 1.0: "force"}.get(weight, "weight")
            number = f"_{_write_share(weight)}" if word == "weight" else ""
            return f"{word}_{query}_{key}{number}{'' if renormalise else '_after'}"


def _write_number(number: int | None) -> str:
    return "*" if number is None else str(number)


def _write_share(share: float) -> str:
    """The shortest text of a number that is read back as the same one."""
    return f"{share:g}" if float(f"{share:g}") == share else repr(float(share))
