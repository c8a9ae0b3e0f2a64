"""What if: changes inside a forward pass. Which of them a sentence's pass can have, and the trace that makes them."""

import copy
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from torch import Tensor

from playground.errors import InterventionError
from playground.model.change_texts import find_text, name_change
from playground.model.changes import KINDS, SUBLAYERS, Change, Claim, Subject, Surroundings
from playground.model.trace import UNTRACED, Trace

Divided = tuple[tuple[Change, ...], tuple[tuple[Change, str], ...]]
"""The changes that can apply together, in their order, and with each of the others a sentence on why not."""


class InterventionTrace(Trace):
    """Hands back changed tensors, from which the pass goes on, and records them.

    Everything before the first change is as in any other pass; so are the sentences that nothing changes. A change of
    strength 0 is left out. Each applies at its own point, in the order of the computation; where several meet at one
    point, by their kinds' ranks, and of the same rank as they were given. `divide_changes` says which cannot apply, and
    this class relies on it.

    Args:
        rows: the changes of each sentence of the batch, in its order.
        real: (B, T) bool, True = a token, not padding.
        positions: the first T rows of the model's position table, (T, D), where positions are shuffled.
        sources: what patches take: by sentence, tensors by their names in a trace, without the sentence axis.
        keep: as of `Trace`; None keeps nothing, and whatever part of the model has no change in it runs untraced, with
            its fused kernels.
    """

    def __init__(
        self,
        rows: Sequence[Sequence[Change]],
        real: Tensor,
        *,
        positions: Tensor | None = None,
        sources: Mapping[int, Mapping[str, Tensor]] | None = None,
        keep: Callable[[str], bool] | None = lambda name: True,
    ) -> None:
        super().__init__(keep or (lambda name: False))
        self._keeps_nothing = keep is None
        self._changes: dict[str, list[tuple[int, Change]]] = defaultdict(list)
        for sentence, changes in enumerate(rows):
            for change in sorted(changes, key=lambda each: each.rank):
                if change.strength != 0:
                    self._changes[change.point].append((sentence, change))
        self.computed: dict[str, Tensor] = {}
        """What the model itself computed where something was changed, by the same names, as far as `keep` says."""
        self._around = [Surroundings(each, positions, sources or {}) for each in real]

    def scope(self, name: str) -> Trace:
        """Return a view that records and changes under `name.`."""
        prefix = f"{self._prefix}{name}."
        if self._keeps_nothing and not any(point.startswith(prefix) for point in self._changes):
            return UNTRACED
        child = copy.copy(self)
        child._prefix = prefix
        return child

    def record(self, name: str, tensor: Tensor) -> Tensor:
        """Note the tensor with its changes, and hand that back."""
        point = f"{self._prefix}{name}"
        if name == "scores" and f"{self._prefix}pattern" in self._changes:
            for around, scores in zip(self._around, tensor, strict=True):
                around.allowed[self._prefix] = ~scores.isneginf()
        if changes := self._changes.get(point):
            computed, tensor = tensor, tensor.clone()
            if self._keep(point):
                self.computed[point] = computed
            for sentence, change in changes:
                _apply(change, tensor[sentence], computed[sentence], self._around[sentence])
        return super().record(name, tensor)


def _apply(change: Change, changed: Tensor, computed: Tensor, around: Surroundings) -> None:
    """Change one sentence's tensor in place; `computed` holds what the model itself has computed there.

    At strength 1 a part of it is the new numbers, bit for bit; else it is moved towards them.
    """
    strength = change.strength
    where, new = change.spec.edit(change, changed, computed, around)
    is_whole = strength == 1 or change.spec.blends
    changed[where] = new if is_whole else (1 - strength) * changed[where] + strength * new


@lru_cache(maxsize=32)
def divide_changes(subject: Subject, changes: tuple[Change, ...]) -> Divided:
    """Divide changes by whether the subject's pass can have them; of two that set the same numbers, the first applies.

    A page asks, then its buttons, then the pass: the last answers are kept.
    """
    applied: list[Change] = []
    refused: list[tuple[Change, str]] = []
    for change in changes:
        try:
            check_change(subject, change, applied)
        except InterventionError as error:
            refused.append((change, str(error)))
        else:
            applied.append(change)
    return tuple(applied), tuple(refused)


def check_change(subject: Subject, change: Change, applied: Sequence[Change] = ()) -> None:
    """Refuse a change that a pass cannot have beside those that are applied already.

    Raises:
        InterventionError: in one sentence, why it cannot be.
    """
    reason = _find_missing(subject, change) or _find_contradiction(change, applied)
    reason = reason or _find_last_key(subject, change, applied)
    if reason is not None:
        raise InterventionError(f"“{name_change(change)}” cannot be made: {reason}.")


def _find_missing(subject: Subject, change: Change) -> str | None:
    """What a change asks for that is not there."""
    n_layers, n_heads, n_tokens = subject.config.n_layers, subject.config.n_heads, subject.n_tokens
    if not 0 <= change.strength <= 1:
        return "its strength is not between 0 and 1"
    if find_text(change) is None:
        return "there is no such place in a model"
    if _is_outside(n_layers, change.layer):
        return f"the model's layers are {_count(n_layers)}"
    if _is_outside(n_heads, change.head, change["source"]):
        return f"each layer's heads are {_count(n_heads)}"
    if _is_outside(n_tokens, change["query"], change["key"]):
        return f"the sentence's tokens are {_count(n_tokens)}"
    if not 0 <= (change["weight"] or 0) <= 1:
        return "its weight is not between 0 and 1"
    return change.spec.missing(change, subject)


def _is_outside(n: int, *numbers: int | None) -> bool:
    return any(number is not None and not 0 <= number < n for number in numbers)


def _count(n: int) -> str:
    return "0 alone" if n == 1 else f"0 to {n - 1}"


def _find_contradiction(change: Change, applied: Sequence[Change]) -> str | None:
    own = change.spec.claims(change)
    for other in applied:
        for one in own:
            if any(_overlap(one, two) for two in other.spec.claims(other)):
                what = "another weight of this row" if one[0] == "weight in a row" else "the same numbers"
                return f"“{name_change(other)}” already sets {what}; take that back first"
    return None


def _overlap(one: Claim, two: Claim) -> bool:
    return len(one) == len(two) and all(a is None or b is None or a == b for a, b in zip(one, two, strict=True))


def _find_last_key(subject: Subject, change: Change, applied: Sequence[Change]) -> str | None:
    """Why a row would be left without other weights to rescale, where it would."""
    if change.spec.readers is None:
        return None
    beside = [change, *(each for each in applied if each.spec.readers and each.layer == change.layer)]
    # Heads that none of them names are all alike: -1 stands for these.
    heads = {-1, *(each.head for each in beside)} - {None} if change.head is None else {change.head}
    for head in heads:
        setters = [
            (each, each["weight"] or 0.0, each.spec.readers(each, subject))
            for each in beside
            if each.spec.readers and each.head in (None, head)
        ]
        left = subject.allowed_in(change.layer)[: subject.n_tokens].clone()
        for each, weight, queries in setters:
            if weight == 0 and each.strength == 1:
                left[queries, each["key"]] = False
        n_left = left.sum(dim=1)
        for each, weight, queries in setters:
            alone = queries & (n_left == left[:, each["key"]])
            if weight * each.strength < 1 and alone.any():
                query = int(alone.nonzero()[0])
                others = [name_change(other) for other, _, theirs in setters if other is not change and theirs[query]]
                return (
                    f"token {query} would have no other key left to share the rest of its attention"
                    f"{_ask_to_take_back(others)}"
                )
    return None


def _ask_to_take_back(names: Sequence[str]) -> str:
    """The end of a sentence on what stands in the way; empty where nothing does."""
    if not names:
        return ""
    more = f", or one of {len(names) - 1} others" if len(names) > 1 else ""
    return f"; take “{names[0]}”{more} back first"


def find_idle(applied: Sequence[Change], n_heads: int) -> dict[Change, str]:
    """Those of the changes of one pass that have no effect after their head or sublayer, each with what is off.

    A head, or a sublayer, counts as off where its result is zero at full strength. Weights of such a head that another
    head copies do have an effect.
    """
    skipped = {(each.layer, each["sublayer"]) for each in applied if each.kind == "off" and each.strength == 1}
    off = {
        (each.layer, head)
        for each in applied
        if each.kind == "zero" and each.strength == 1
        for head in _list_heads(each.head, n_heads)
    }
    kept = off - {(each.layer, each["source"]) for each in applied if each.kind == "copy"}
    idle: dict[Change, str] = {}
    for each in applied:
        sublayer = next((name for name in SUBLAYERS if f".{name}." in each.point), None)
        if (each.layer, sublayer) in skipped and each.kind != "off":
            idle[each] = f"{SUBLAYERS[str(sublayer)]} of layer {each.layer} is off"
        elif _is_before_zero(each) and {(each.layer, head) for head in _list_heads(each.head, n_heads)} <= kept:
            idle[each] = f"{'every head' if each.head is None else f'head {each.head}'} of layer {each.layer} is off"
    return idle


def _is_before_zero(change: Change) -> bool:
    """Whether it changes what a head gathers, or what that is made of, before the head is switched off."""
    if change.point.endswith((".q", ".k", ".v", ".scores", ".pattern")):
        return True
    return change.point.endswith(".z") and change.spec.rank < KINDS["zero"].rank


def _list_heads(head: int | None, n_heads: int) -> Sequence[int]:
    return range(n_heads) if head is None else [head]
