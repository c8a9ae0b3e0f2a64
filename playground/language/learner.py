"""Learning the small English: a sentence hides one word, the network says which.

Muon for the blocks' matrices (Jordan et al. 2024), Adam for the rest; one learning rate: up, constant, down to 0.
"""

import math
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from random import Random

import torch
from torch import Tensor, nn

from playground.jobs import Computation, JobStatus
from playground.language.capabilities import CAPABILITIES, training_text
from playground.language.network import EnglishNetwork, Spec, score_hidden, share_right
from playground.language.text import PAD_ID, encode, english_tokenizer
from playground.model import Trace
from playground.runs.arrays import Array, stack_layers
from playground.training.network import Tagger, evaluation_steps
from playground.training.trained_network import fill_network
from playground.training.trainer import clip_gradient, cross_entropy

STEPS = 2_400
BATCH = 64
LEARNING_RATE = 2e-3
WARMUP = 100
DECAY = 0.2
"""The last share of the steps, in which the learning rate falls."""
CLIP = 1.0
N_SENTENCES = 60_000
OTHER_WORDS = 0.12
"""Share of training sentences that hide any other word."""
HELD_OUT_SENTENCES = 200
"""Of each capability."""
N_LOOKS = 10
"""Measurements on the way."""
SHOWN = "The animal didn't cross the street because it was too tired, so the [MASK] is old."
"""Its attention is saved."""

_CHUNK = 16
"""Batches that are sorted by length together."""


@lru_cache(maxsize=2)
def training_set(seed: int) -> tuple[Tensor, Tensor]:
    """Return sentences (N, T) int16 and the hidden words' places, (N,)."""
    examples = list(training_text(N_SENTENCES, seed))
    random = Random(f"other words {seed}")
    examples = [
        each._replace(place=random.randrange(len(each.words))) if random.random() < OTHER_WORDS else each
        for each in examples
    ]
    ids, places = encode(examples)
    return ids.to(torch.int16), places


def measure(network: Tagger, spec: Spec, n: int = HELD_OUT_SENTENCES) -> dict[str, float]:
    """Share right by capability, over `n` held-out sentences each."""
    return {name: share_right(network, spec, each.examples(n)) for name, each in CAPABILITIES.items()}


class MuonWithAdam:
    """Muon for the blocks' matrices, Adam for the rest."""

    def __init__(self, network: nn.Module, lr: float) -> None:
        named = list(network.named_parameters())
        blocks = [p for name, p in named if ".layers." in name and p.ndim == 2]
        others = [p for name, p in named if not (".layers." in name and p.ndim == 2)]
        self.parts: list[torch.optim.Optimizer] = [
            torch.optim.Muon(blocks, lr, weight_decay=0.0, adjust_lr_fn="match_rms_adamw"),
            torch.optim.Adam(others, lr, betas=(0.9, 0.98), eps=1e-9, fused=True),
        ]

    def step(self, lr: float | None) -> None:
        """Take a step and forget the gradients; None forgets only."""
        for part in self.parts:
            if lr is not None:
                for group in part.param_groups:
                    group["lr"] = lr
                part.step()
            part.zero_grad()


def learning_rate(step: int, steps: int) -> float:
    """The learning rate of a step, from 1."""
    return LEARNING_RATE * min(1.0, step / WARMUP, (steps - step + 1) / (DECAY * steps))


@dataclass
class Learning:
    """What a learner shows while it learns."""

    spec: Spec
    steps: int
    loss: list[float] = field(default_factory=list)
    """Of every step, in nats."""
    shares: dict[int, dict[str, float]] = field(default_factory=dict)
    """By step."""
    patterns: dict[int, Array] = field(default_factory=dict)
    """By step: (n_layers, H, T, T)."""
    trained: EnglishNetwork | None = None

    @property
    def progress(self) -> float:
        """The share of the steps that is done."""
        return 1.0 if self.trained else len(self.loss) / self.steps

    @property
    def n_bytes(self) -> int:
        """Memory that it takes."""
        weights = self.trained.n_bytes if self.trained else 0
        return weights + 32 * len(self.loss) + sum(each.nbytes for each in list(self.patterns.values()))


class Learner(Computation[Learning]):
    """A network while it learns; another number of steps is for tests."""

    def __init__(self, spec: Spec, device: torch.device | str = "cpu", steps: int = STEPS) -> None:
        self.spec, self.steps, self.device = spec, steps, torch.device(device)
        self.network = spec.build().to(self.device)
        self.optimizer = MuonWithAdam(self.network, LEARNING_RATE)
        self._parameters = list(self.network.parameters())
        self._looks = evaluation_steps(steps, N_LOOKS)
        self._state = Learning(spec, steps)

    @property
    def state(self) -> Learning:
        """Return its curves by now, and after the end its network."""
        state = self._state
        return replace(state, loss=list(state.loss), shares=dict(state.shares), patterns=dict(state.patterns))

    def run(self) -> Generator[object]:
        """Learn; yields after every step."""
        self._look()
        ids, places = training_set(self.spec.seed)
        for rows in _batches(ids, self.spec.seed, self.steps):
            self._learn(ids[rows].long(), places[rows])
            if len(self._state.loss) in self._looks:
                self._look()
            yield None
        self._finish()

    def close(self, status: JobStatus) -> None:
        """Free everything but the last state."""
        del self.network, self.optimizer, self._parameters

    def _learn(self, ids: Tensor, places: Tensor) -> None:
        ids = ids[:, : int((ids != PAD_ID).sum(1).max())].to(self.device)
        places = places.to(self.device)
        targets = ids.gather(1, places[:, None])[:, 0]  # (B,)
        loss = cross_entropy(score_hidden(self.network, self.spec, ids, places), targets)
        loss.backward()  # type: ignore[no-untyped-call]
        norm = clip_gradient(self._parameters, CLIP)
        rate = learning_rate(len(self._state.loss) + 1, self.steps)
        self.optimizer.step(rate if math.isfinite(norm.item()) else None)
        self._state.loss.append(loss.item())

    def _look(self) -> None:
        step = len(self._state.loss)
        self.network.eval()
        self._state.shares[step] = measure(self.network, self.spec, 50)
        trace = Trace(keep=lambda name: name.endswith(".pattern"))
        ids = english_tokenizer().encode_batch([SHOWN]).ids.to(self.device)
        with torch.inference_mode():
            self.network(ids, self.spec.mask(ids != PAD_ID), trace)
        layers = range(self.spec.config.n_layers)
        self._state.patterns[step] = stack_layers(trace, "encoder.layers.{}.attn.pattern", layers)
        self.network.train()

    def _finish(self) -> None:
        """Round the weights as files do, and measure."""
        network = self.spec.build(initial=False)
        weights = {name: tensor.detach().cpu().half().float() for name, tensor in self.network.state_dict().items()}
        fill_network(network, weights)
        self._state.trained = EnglishNetwork(self.spec, network, measure(network, self.spec))


def _batches(ids: Tensor, seed: int, steps: int) -> Iterator[Tensor]:
    lengths, random, n = (ids != PAD_ID).sum(1), torch.Generator().manual_seed(seed), 0
    while True:
        order = torch.randperm(len(ids), generator=random)
        for start in range(0, len(order), BATCH * _CHUNK):
            chunk = order[start : start + BATCH * _CHUNK]
            rows = chunk[lengths[chunk].argsort(stable=True)]
            for i in torch.randperm(-(-len(rows) // BATCH), generator=random).tolist():
                if n == steps:
                    return
                n += 1
                yield rows[i * BATCH : (i + 1) * BATCH]


def learn(spec: Spec, on_step: Callable[[Learning], object] | None = None) -> EnglishNetwork:
    """Train to the end, here and now."""
    learner = Learner(spec)
    for _ in learner.run():
        if on_step is not None:
            on_step(learner.state)
    trained = learner.state.trained
    if trained is None:
        raise RuntimeError("a learner that has finished has a network")
    return trained
