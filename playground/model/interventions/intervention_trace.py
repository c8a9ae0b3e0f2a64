"""A trace that changes what it records: interventions inside a forward pass, without hooks or another model."""

import copy
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor

from playground.model.interventions.intervention_edits import Surroundings, edit, point_of, rank
from playground.model.interventions.intervention_kinds import Intervention
from playground.model.trace import UNTRACED, Trace


@dataclass(frozen=True)
class _Edit:
    """One intervention in one sentence of the batch."""

    sentence: int
    intervention: Intervention


class InterventionTrace(Trace):
    """Hands back changed tensors, from which the pass goes on, and records them.

    Everything before the first change is as in any other pass; so are the sentences that nothing changes. An
    intervention of strength 0 is left out. Each applies at its own point, in the order of the computation; where
    several meet at one point, in this order: shuffled positions, patches, rows, weights that are cut, weights that are
    set, heads, sublayers, and of the same kind as they were given. `Subject.split` says which cannot apply, and this
    class relies on it.

    Args:
        rows: the interventions of each sentence of the batch, in its order.
        real: (B, T) bool, True = a token, not padding.
        positions: the first T rows of the model's position table, (T, D), where positions are shuffled.
        sources: what `PatchVector` takes: by sentence, tensors by their names in a trace, without the sentence axis.
        keep: as of `Trace`; None keeps nothing, and whatever part of the model has no change in it runs untraced, with
            its fused kernels.
    """

    def __init__(
        self,
        rows: Sequence[Sequence[Intervention]],
        real: Tensor,
        *,
        positions: Tensor | None = None,
        sources: Mapping[int, Mapping[str, Tensor]] | None = None,
        keep: Callable[[str], bool] | None = lambda name: True,
    ) -> None:
        super().__init__(keep or (lambda name: False))
        self._keeps_nothing = keep is None
        self._edits: dict[str, list[_Edit]] = defaultdict(list)
        for sentence, interventions in enumerate(rows):
            for intervention in sorted(interventions, key=rank):
                if intervention.strength != 0:
                    self._edits[point_of(intervention)].append(_Edit(sentence, intervention))
        self.computed: dict[str, Tensor] = {}
        """What the model itself computed where something was changed, by the same names, as far as `keep` says."""
        self._around = [Surroundings(each, positions, sources or {}) for each in real]

    def scope(self, name: str) -> Trace:
        """Return a view that records and changes under `name.`."""
        prefix = f"{self._prefix}{name}."
        if self._keeps_nothing and not any(point.startswith(prefix) for point in self._edits):
            return UNTRACED
        child = copy.copy(self)
        child._prefix = prefix
        return child

    def record(self, name: str, tensor: Tensor) -> Tensor:
        """Note the tensor with its changes, and hand that back."""
        if name == "scores" and f"{self._prefix}pattern" in self._edits:
            for around, scores in zip(self._around, tensor, strict=True):
                around.allowed[self._prefix] = ~scores.isneginf()
        edits = self._edits.get(f"{self._prefix}{name}", ())
        if edits:
            computed, tensor = tensor, tensor.clone()
            if self._keep(f"{self._prefix}{name}"):
                self.computed[f"{self._prefix}{name}"] = computed
            for each in edits:
                around = self._around[each.sentence]
                edit(each.intervention, tensor[each.sentence], computed[each.sentence], around)
        return super().record(name, tensor)
