"""Networks that tiny runs leave behind, trained once."""

from dataclasses import replace
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from playground.config import ModelConfig
from playground.training import trained_network
from playground.training.recipe import Recipe
from playground.training.trained_network import TrainedNetwork
from playground.training.trainer import Trainer
from tests.training.tiny import train

CONFIG = ModelConfig(vocab_size=1, d_model=16, n_heads=2, n_layers=2, d_ff=24, max_len=20)
RECIPE = Recipe(steps=6, n_train=80, n_validation=16, batch_size=16, length=6, lr=0.01, warmup=2)


def trainer(config: ModelConfig = CONFIG, **changes: Any) -> Trainer:
    """A run that has ended."""
    return train(replace(RECIPE, **changes), config)


@lru_cache
def trained(task: Any = "reverse", config: ModelConfig = CONFIG, **changes: Any) -> TrainedNetwork:
    """What it leaves behind."""
    return trained_network.from_trainer(trainer(config, task=task, **changes))


def load(data: bytes) -> TrainedNetwork:
    return trained_network.load(data, max_parameters=1_000_000)


def weights(network: torch.nn.Module) -> dict[str, Tensor]:
    return dict(network.state_dict())
