"""Short runs with one switch turned and without it, and what each began with, read and stepped with."""

import random
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor

from playground import ModelConfig
from playground.training.recipe import Recipe
from playground.training.tasks import Examples, make_data
from playground.training.trainer import Trainer

CONFIG = ModelConfig(vocab_size=0, d_model=16, n_heads=2, n_layers=2, d_ff=32, max_len=32, dropout=0.4)
BASE = Recipe(
    task="reverse", length=8, n_symbols=6, n_train=64, n_validation=32, steps=12, batch_size=32,
    optimizer="adamw", schedule="constant", lr=3e-3,
)  # fmt: skip
BY_HEART = replace(BASE, n_train=8, batch_size=8, steps=75, lr=1e-2)
"""Eight sequences are soon known by heart: the validation loss rises again."""
COINS = replace(
    BASE, task="characters", text="".join(random.Random(0).choices("abcd", k=3_000)), length=6, n_symbols=10,
    n_train=512, n_validation=128, steps=200, lr=1e-2,
)  # fmt: skip
"""Nobody can know what comes next: at best it costs ln 4 nats."""

STRENGTHS: dict[str, Any] = {"clip": 0.1, "patience": 2, "span_masking": 0.4, "mask_padding": False, "causal": False,
                             "layer_norm": False}  # fmt: skip
AUGMENTATIONS = ("token_masking", "token_swapping", "span_masking")


def baseline(switch: str) -> Recipe:
    """A run in which a switch can matter, without it."""
    return {"causal": COINS, "patience": BY_HEART}.get(switch, BASE)


def switched(switch: str) -> Recipe:
    """The same run with it."""
    changes: dict[str, Any] = {switch: STRENGTHS.get(switch, 0.3)}
    return replace(baseline(switch), **changes)


@dataclass
class Observed:
    """A run, and what it began with, read and stepped with, by step."""

    trainer: Trainer
    initial: dict[str, Tensor]
    rows: list[Tensor] = field(default_factory=list)
    read: list[Tensor] = field(default_factory=list)
    used_norms: list[float] = field(default_factory=list)

    @property
    def losses(self) -> list[float]:
        return self.trainer.history.loss

    @property
    def final(self) -> Tensor:
        return torch.cat([parameter.flatten() for parameter in self.trainer.network.parameters()])


def run(recipe: Recipe) -> Observed:
    data = make_data(recipe)
    rows: list[Tensor] = []

    class Recorded(Examples):
        def __getitem__(self, wanted: Tensor | slice) -> Examples:
            if isinstance(wanted, Tensor):
                rows.append(wanted)
            return super().__getitem__(wanted)

    trainer = Trainer(CONFIG, recipe, data=replace(data, train=Recorded(**vars(data.train))))
    if trainer.teacher is not None:
        trainer.teacher.data = data  # the same, unrecorded: only the student's rows are compared
    network = trainer.network
    observed = Observed(trainer, {name: tensor.clone() for name, tensor in network.state_dict().items()})
    forward = network.forward

    def noted(*arguments: Any) -> Any:
        if network.training:
            observed.read.append(arguments[0].clone())
        return forward(*arguments)

    def note_used(*_: Any) -> None:
        gradients = [parameter.grad for parameter in network.parameters() if parameter.grad is not None]
        observed.used_norms.append(float(torch.nn.utils.get_total_norm(gradients)))

    trainer.optimizer.register_step_pre_hook(note_used)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(network, "forward", noted)
        for _ in trainer.run():
            pass
    observed.rows = list(rows)  # what tests look up later is no batch
    return observed


cached_run = cache(run)
