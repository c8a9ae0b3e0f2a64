"""The step downhill against torch's own clipping, the paper's schedule, and updates worked out by hand."""

import math
from typing import Any

import pytest
import torch
from torch import nn

from playground import ModelConfig
from playground.training.network import Tagger
from playground.training.recipe import OptimizerName, Recipe
from playground.training.trainer import build_optimizer, clip_gradient, learning_rate

CONFIG = ModelConfig(vocab_size=9, d_model=8, n_heads=2, n_layers=1, d_ff=16, max_len=12, dropout=0.0)


def with_gradients(scale: float = 1.0) -> Tagger:
    network, generator = Tagger(CONFIG, 5, seed=1), torch.Generator().manual_seed(2)
    for parameter in network.parameters():
        parameter.grad = scale * torch.randn(parameter.shape, generator=generator)
    return network


def gradients(network: nn.Module) -> list[torch.Tensor]:
    return [parameter.grad for parameter in network.parameters() if parameter.grad is not None]


@pytest.mark.parametrize("largest", [0.01, 1.0, 1e6, 0.0])
def test_clipping_is_torchs_and_without_a_limit_the_gradient_is_only_measured(largest: float) -> None:
    ours, theirs = with_gradients(), with_gradients()
    norm = clip_gradient(ours.parameters(), largest)
    torch.testing.assert_close(norm, torch.nn.utils.clip_grad_norm_(theirs.parameters(), largest or math.inf))
    for mine, reference in zip(gradients(ours), gradients(theirs), strict=True):
        torch.testing.assert_close(mine, reference, rtol=1.3e-6 if largest else 0, atol=1e-5 if largest else 0)


def test_the_paper_s_schedule_peaks_at_the_rate_and_a_constant_one_stays() -> None:
    recipe, d_model = Recipe(schedule="paper", warmup=4000, lr=1 / math.sqrt(512 * 4000)), 512
    for step in (1, 10, 3999, 4000, 4001, 100_000):
        paper = d_model**-0.5 * min(step**-0.5, step * 4000**-1.5)
        assert learning_rate(step, recipe) == pytest.approx(paper, rel=1e-12)
        assert learning_rate(step, Recipe(schedule="constant", lr=0.5)) == 0.5
    assert learning_rate(50, Recipe(schedule="paper", warmup=50, lr=0.02)) == 0.02


@pytest.mark.parametrize("name", ["adam", "adamw", "sgd"])
def test_updates_are_torchs(name: OptimizerName) -> None:
    ours, theirs = with_gradients(), with_gradients()
    build_optimizer(ours, Recipe(optimizer=name, lr=0.01)).step()
    options: dict[str, Any] = {"lr": 0.01, "weight_decay": 0.0}
    if name == "sgd":
        torch.optim.SGD(theirs.parameters(), momentum=0.9, **options).step()
    else:
        kind = torch.optim.Adam if name == "adam" else torch.optim.AdamW
        kind(theirs.parameters(), betas=(0.9, 0.98), eps=1e-9, **options).step()
    for mine, reference in zip(ours.parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(mine, reference)


@pytest.mark.parametrize(
    ("name", "decay", "left"), [("adamw", 0.5, 0.95), ("sgd", 0.5, 0.95), ("adam", 0.01, 0.9), ("adam", 0.5, 0.9)]
)
def test_weight_decay_shrinks_matrices_and_tables_alone(name: OptimizerName, decay: float, left: float) -> None:
    """Adam rescales it: where the decay is all of the gradient, any λ makes a step of the whole learning rate."""
    network = Tagger(CONFIG, 5, seed=1)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.fill_(1.0)
            parameter.grad = torch.zeros_like(parameter)
    build_optimizer(network, Recipe(optimizer=name, lr=0.1, weight_decay=decay)).step()
    for key, parameter in network.named_parameters():
        torch.testing.assert_close(parameter, torch.full_like(parameter, left if parameter.ndim == 2 else 1.0), msg=key)
