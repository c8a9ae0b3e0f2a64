"""An ablation in words, from which any machine can build it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

import torch

from playground.config import ModelConfig
from playground.training.regularisers.ablation import Ablation
from playground.training.regularisers.ablation_state import AblationResult, AblationRun, AblationState
from playground.training.tasks import Data


@dataclass(frozen=True)
class AblationRequest:
    """An ablation in words."""

    config: ModelConfig
    runs: tuple[AblationRun, ...]
    device: str = "cpu"
    """As torch names it."""
    threads: int = 1
    """CPU threads, on which the last digits depend."""
    data: Mapping[int, Data] | None = None
    """The runs' data by seed, where they are there already; they do not travel."""

    def build(self) -> Ablation:
        """The ablation before its first step; raises as `Trainer`."""
        return Ablation(self.config, self.runs, torch.device(self.device), data=self.data)

    def prepare_process(self) -> None:
        """Set up a process that computes this and nothing else."""
        torch.set_num_threads(self.threads)

    def on_device(self, device: str) -> "AblationRequest":
        """The same on another kind of device."""
        return replace(self, device=device)

    @property
    def parts(self) -> tuple["AblationRequest", ...]:
        """One for each run: none of them needs another's numbers."""
        return tuple(AblationRequest(self.config, (run,), self.device, self.threads, self.data) for run in self.runs)

    def join(self, states: Sequence[AblationState | None]) -> AblationState | None:
        """The state of the whole from that of its parts, which may end in any order.

        It is a state that one run after the other could have shown as well: a run is listed once all before it are, and
        counts as ended once those of the same kind with the seeds before it have.
        """
        known = list(takewhile(lambda state: state is not None, states))
        begun = [state for state in known if state is not None and state.results]
        if not begun:
            return None
        results, going_on = list[AblationResult](), set[str]()
        for (result,) in (state.results for state in begun):
            name = result.run.name
            results.append(replace(result, unbatched=None) if name in going_on else result)
            if result.unbatched is None:
                going_on.add(name)
        progress = sum(state.progress for state in states if state is not None) / len(self.runs)
        return AblationState(self.runs, tuple(results), begun[0].n_answers, progress)

    def __reduce__(self) -> tuple[object, ...]:
        return AblationRequest, (self.config, self.runs, self.device, self.threads)
