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
from playground.jobs import JobStatus
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

    def picture(self) -> "SweepState":
        """The same: it does not grow."""
        return self

    def followed_by(self, later: "SweepState") -> "SweepState":
        """The later of the two."""
        return later if later.progress >= self.progress else self


@dataclass(frozen=True)
class SweepRequest:
    """A sweep over depths in words."""

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
    device: str = "cpu"
    """As torch names it."""
    threads: int = 1
    """CPU threads, on which the last digits depend."""
    weights: Encoder | None = None
    """What `draw_weights` returns for these, on the device, where it is there already; it does not travel."""

    def build(self) -> "DepthSweep":
        """The sweep before its first step."""
        return DepthSweep(self)

    def prepare_process(self) -> None:
        """Set up a process that computes this and nothing else."""
        torch.set_num_threads(self.threads)

    def on_device(self, device: str) -> "SweepRequest":
        """The same on another kind of device."""
        return replace(self, device=device)

    @property
    def parts(self) -> tuple["SweepRequest", ...]:
        """One for each variant: none of them needs another's numbers."""
        return tuple(replace(self, variants=(variant,)) for variant in self.variants)

    def join(self, states: Sequence[SweepState | None]) -> SweepState | None:
        """The state of the whole from that of its parts."""
        begun = [state for state in states if state is not None]
        found = {variant: norms for state in begun for variant, norms in state.norms.items()}
        return SweepState(found, len(found) / len(self.variants)) if begun else None

    def __reduce__(self) -> tuple[object, ...]:
        words = (self.config, self.seed, self.scale, self.ids, self.depths, self.vectors, self.causal, self.variants)
        return SweepRequest, (*words, self.device, self.threads)


class DepthSweep:
    """One variant after the other; see `PortableComputation`."""

    def __init__(self, request: SweepRequest) -> None:
        self._request = request
        self.state = SweepState()

    def run(self) -> Generator[None]:
        """Compute it, a variant a step; raises as `gradients.backward`."""
        request, device = self._request, torch.device(self._request.device)
        weights = request.weights
        if weights is None:
            weights = draw_weights(request.config, request.seed, request.scale).to(device)
        ids = torch.tensor(request.ids, device=device)
        vectors = None if request.vectors is None else request.vectors.to(device)
        for variant in request.variants:
            if variant not in self.state.norms:
                model = with_variant(weights, variant)
                found = sweep_depths(model, ids, request.depths, vectors=vectors, causal=request.causal)
                norms = {**self.state.norms, variant: found}
                self.state = SweepState(norms, len(norms) / len(request.variants))
                yield

    @property
    def progress(self) -> float:
        """The share that is done."""
        return self.state.progress

    @property
    def n_bytes(self) -> int:
        """Memory that the state takes, in bytes."""
        return self.state.n_bytes

    def update(self, last: SweepState | None) -> SweepState:
        """All that was found so far."""
        return self.state

    def checkpoint(self) -> SweepState:
        """The same: what another worker need not compute again."""
        return self.state

    def restore(self, checkpoint: SweepState) -> None:
        """Go on behind what is known."""
        self.state = checkpoint

    def suspend(self) -> None:
        """Nothing: there is nothing to free between two variants."""

    def freeze(self, status: JobStatus) -> SweepState:
        """What was found so far."""
        return self.state

    def close(self, status: JobStatus) -> None:
        """Nothing is left to free."""
