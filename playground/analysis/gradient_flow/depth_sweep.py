"""The first layer's gradient against the number of layers, in each of the six; in words, so that any machine can do it.

Legend: T tokens, V words, D = d_model.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from playground.analysis.gradient_flow.gradient_variants import VARIANTS, Variant, draw_weights, with_variant
from playground.analysis.gradient_flow.gradients import sweep_depths
from playground.config import ModelConfig
from playground.jobs import PortableRequest
from playground.jobs.job import ResumableComputation
from playground.model import Encoder

DepthNorms = Mapping[Variant, Mapping[int, Mapping[str, float]]]
"""By variant, number of layers and part, the norm of the first layer's gradient, as `Flow.gradients` begins."""


@dataclass(frozen=True)
class SweepState:
    """What a sweep has found so far."""

    norms: DepthNorms = field(default_factory=dict)
    progress: float = 0.0
    """The share of the variants that is done."""

    @property
    def n_bytes(self) -> int:
        """Memory that it takes, in bytes, about."""
        return sum(100 * len(by_depth) * 5 for by_depth in self.norms.values())


@dataclass(frozen=True)
class SweepRequest(PortableRequest[SweepState]):
    """A sweep over depths in words; its `data` is what `draw_weights` returns for these, on the device."""

    config: ModelConfig
    """What the six share, with as many layers as the deepest has."""
    seed: int
    scale: float
    ids: tuple[int, ...]
    """Of the sentence's tokens."""
    depths: tuple[int, ...]
    vectors: Tensor | None = None
    """(V, D), where the config has no token table."""
    causal: bool = False
    variants: tuple[Variant, ...] = VARIANTS

    def build(self) -> "DepthSweep":
        """The sweep before its first step."""
        return DepthSweep(self)

    def prepare_process(self) -> None:
        """Set up a process that computes this and nothing else."""
        torch.set_num_threads(self.threads)

    @property
    def parts(self) -> tuple["SweepRequest", ...]:
        """One for each variant: none of them needs another's numbers."""
        return tuple(replace(self, variants=(variant,)) for variant in self.variants)

    def join(self, states: Sequence[SweepState | None]) -> SweepState | None:
        """The state of the whole from that of its parts."""
        begun = [state for state in states if state is not None]
        found = {variant: norms for state in begun for variant, norms in state.norms.items()}
        return SweepState(found, len(found) / len(self.variants)) if begun else None


class DepthSweep(ResumableComputation[SweepState]):
    """One variant after the other."""

    def __init__(self, request: SweepRequest) -> None:
        self._request, self._state = request, SweepState()

    @property
    def state(self) -> SweepState:
        """All that was found so far."""
        return self._state

    def run(self) -> Generator[None]:
        """Compute it, a variant a step; raises as `gradients.backward`."""
        request, device = self._request, torch.device(self._request.device)
        weights: Encoder | None = request.data
        if weights is None:
            weights = draw_weights(request.config, request.seed, request.scale).to(device)
        ids = torch.tensor(request.ids, device=device)
        vectors = None if request.vectors is None else request.vectors.to(device)
        for variant in request.variants:
            if variant not in self.state.norms:
                model = with_variant(weights, variant)
                found = sweep_depths(model, ids, request.depths, vectors=vectors, causal=request.causal)
                norms = {**self.state.norms, variant: found}
                self._state = SweepState(norms, len(norms) / len(request.variants))
                yield

    def checkpoint(self) -> SweepState:
        """What another machine need not compute again."""
        return self.state

    def restore(self, checkpoint: SweepState) -> None:
        """Go on behind what is known."""
        self._state = checkpoint
