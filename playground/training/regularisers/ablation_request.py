"""An ablation in words, from which any machine can build it."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch

from playground.config import ModelConfig
from playground.training.regularisers.ablation import Ablation, AblationRun
from playground.training.tasks import Data


@dataclass(frozen=True)
class AblationRequest:
    """An ablation in words."""

    config: ModelConfig
    runs: tuple[AblationRun, ...]
    device: str = "cpu"
    """As torch names it."""
    data: Mapping[int, Data] | None = None
    """The runs' data by seed, where they are there already; they do not travel."""

    def build(self) -> Ablation:
        """The ablation before its first step; raises as `Trainer`."""
        return Ablation(self.config, self.runs, torch.device(self.device), data=self.data)

    def __reduce__(self) -> tuple[object, ...]:
        return AblationRequest, (self.config, self.runs, self.device)
