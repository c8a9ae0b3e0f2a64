"""A tiny network and recipe, and runs of them from beginning to end."""

from functools import cache

import torch

from playground import ModelConfig
from playground.training.recipe import Recipe
from playground.training.trainer import Trainer

CPU = torch.device("cpu")
CONFIG = ModelConfig(vocab_size=0, d_model=32, n_heads=2, n_layers=1, d_ff=64, max_len=32, dropout=0.3)
SMALL = Recipe(task="reverse", length=5, n_symbols=5, n_train=200, n_validation=40, steps=30, batch_size=16, lr=3e-3)


def train(recipe: Recipe = SMALL, config: ModelConfig = CONFIG, *, watch: bool = True) -> Trainer:
    """A run that has ended."""
    trainer = Trainer(config, recipe, watch=watch)
    for _ in trainer.run():
        pass
    return trainer


cached_train = cache(train)
"""One trainer for all tests that only look at it."""


def flat_weights(trainer: Trainer) -> torch.Tensor:
    return torch.cat([parameter.flatten() for parameter in trainer.network.parameters()])
