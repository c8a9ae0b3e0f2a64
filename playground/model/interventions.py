"""What if: which changes a pass can have, and the trace that makes them."""

import copy
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from torch import Tensor

from playground.model.change_texts import find_text, name_change
from playground.model.changes import Change, Claim, Subject
from playground.model.edits import Surroundings
from playground.model.trace import UNTRACED, Trace


class InterventionTrace(Trace):
    """Hand back changed tensors, from which the pass goes on, and record them.

    Args:
        rows: the changes of each sentence of the batch; at one point they apply by rank, then as given.
        real: (B, T) bool, False = padding.
        positions: (T, D), to shuffle.
        sources: for patches, by sentence: tensors by their names in a trace, without the sentence axis.
        keep: as of `Trace`; None keeps nothing, and unchanged parts run untraced.
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
        """The original values at the changed points, under the same names."""
        self._around = [Surroundings(each, positions, sources or {}) for each in real]

    def scope(self, name: str) -> Trace:
        """Record and change under `name.`."""
        prefix = f"{self._prefix}{name}."
        if self._keeps_nothing and not any(point.startswith(prefix) for point in self._changes):
            return UNTRACED
        child = copy.copy(self)
        child._prefix = prefix
        return child

    def record(self, name: str, tensor: Tensor) -> Tensor:
        """Change the tensor, note it, and hand it back."""
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
    strength = change.strength
    where, new = change.spec.edit(change, changed, computed, around)
    is_whole = strength == 1 or change.spec.blends
    changed[where] = new if is_whole else (1 - strength) * changed[where] + strength * new


def divide_changes(
    subject: Subject, changes: Iterable[Change]
) -> tuple[tuple[Change, ...], tuple[tuple[Change, str], ...]]:
    """Return the changes that a pass can have together, and each other one with the reason.

    Of two that set the same numbers, the first applies.
    """
    applied: list[Change] = []
    refused: list[tuple[Change, str]] = []
    for change in changes:
        reason = _find_missing(subject, change) or _find_contradiction(change, applied)
        if reason is None:
            applied.append(change)
        else:
            refused.append((change, f"“{name_change(change)}” cannot be made: {reason}."))
    return tuple(applied), tuple(refused)


def _find_missing(subject: Subject, change: Change) -> str | None:
    n_layers, n_heads, n_tokens = subject.config.n_layers, subject.config.n_heads, subject.n_tokens
    if find_text(change) is None:
        return "there is no such place in a model"
    if _is_outside(n_layers, change.layer):
        return f"the model's layers are {_count(n_layers)}"
    if _is_outside(n_heads, change.head, change["source"]):
        return f"each layer's heads are {_count(n_heads)}"
    if _is_outside(n_tokens, change["query"], change["key"]):
        return f"the sentence's tokens are {_count(n_tokens)}"
    return change.spec.missing(change, subject) if change.spec.missing else None


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
