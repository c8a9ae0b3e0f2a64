"""Which initial weights two architectures of the same seed share, from the rule that draws them: nothing is drawn."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from playground.accounting.terms import LABELS, Component
from playground.config import ModelConfig
from playground.model import Encoder
from playground.model.init import InitialTensor, initial_tensors
from playground.text.wording import join_words


@dataclass(frozen=True)
class SharedTensor:
    """A tensor that both encoders draw from the same random numbers."""

    name: str
    """As in `InitialTensor`: a part of a fused projection as where it stands alone."""
    component: Component
    corner: tuple[int, ...]
    """The shape of what is shared: the upper left corner of both, or the beginning of a vector."""
    ratio: float
    """The second encoder's numbers over the first one's; 1 where they are equal, bit by bit."""


@dataclass(frozen=True)
class SharedWeights:
    """A component's random weights, counted: those that both encoders have, and those of one alone."""

    component: Component
    equal: int
    rescaled: int
    """Equal but for a factor."""
    ratios: tuple[float, ...]
    """Those factors, second over first, from the smallest."""
    only_first: int
    only_second: int


def shared_tensors(first: ModelConfig, second: ModelConfig) -> list[SharedTensor]:
    """What two encoders of the same seed share of their initial weights, tensor by tensor, in the first one's order.

    Norms, and the biases of the scheme `xavier`, are not drawn, and so left out.
    """
    ours, theirs = _random_tensors(first), _random_tensors(second)
    return [
        SharedTensor(
            name,
            _component(name),
            tuple(map(min, one.shape, theirs[name].shape)),
            theirs[name].size / one.size,
        )
        for name, one in ours.items()
        if name in theirs and theirs[name].distribution == one.distribution
    ]


def count_shared(first: ModelConfig, second: ModelConfig) -> list[SharedWeights]:
    """What two encoders of the same seed share of their initial weights, by component; see `shared_tensors`."""
    shared = shared_tensors(first, second)
    totals = [_count_by_component(_random_tensors(config).values()) for config in (first, second)]
    counts = []
    for component in get_args(Component):
        tensors = [tensor for tensor in shared if tensor.component == component]
        both = sum(math.prod(tensor.corner) for tensor in tensors)
        equal = sum(math.prod(tensor.corner) for tensor in tensors if tensor.ratio == 1)
        only_first, only_second = (total.get(component, 0) - both for total in totals)
        if both + only_first + only_second:
            ratios = tuple(sorted({tensor.ratio for tensor in tensors} - {1.0}))
            counts.append(SharedWeights(component, equal, both - equal, ratios, only_first, only_second))
    return counts


def describe_shared(counts: Sequence[SharedWeights], names: tuple[str, str]) -> list[str]:
    """A sentence for each component; `names` is what the two encoders are called in it."""
    return [f"{LABELS[counted.component].capitalize()}: {_describe(counted, names)}." for counted in counts]


def _describe(counted: SharedWeights, names: tuple[str, str]) -> str:
    first, second = names
    shared = [f"{counted.equal:,} random weights are equal"] if counted.equal else []
    if counted.rescaled:
        factors = " or ".join(f"{ratio:.3g}" for ratio in counted.ratios)
        shared.append(f"{counted.rescaled:,} random weights in {second} are {factors} times those in {first}")
    alone = [
        f"{n:,} are in {name} alone" for name, n in ((first, counted.only_first), (second, counted.only_second)) if n
    ]
    return "; ".join([*(shared or ["no random weight is shared"]), *([join_words(alone)] if alone else [])])


def _random_tensors(config: ModelConfig) -> Mapping[str, InitialTensor]:
    tensors = (tensor for tensor, _ in initial_tensors(Encoder(config, seed=None), config.initialisation))
    return {tensor.name: tensor for tensor in tensors if tensor.distribution != "constant"}


def _component(name: str) -> Component:
    """What a drawn tensor is counted with; norms draw none."""
    if name.startswith("embed."):
        return "embeddings"
    return "attention" if ".attn." in name else "feed_forward"


def _count_by_component(tensors: Iterable[InitialTensor]) -> dict[Component, int]:
    counts: dict[Component, int] = {}
    for tensor in tensors:
        component = _component(tensor.name)
        counts[component] = counts.get(component, 0) + math.prod(tensor.shape)
    return counts
