"""Losses against their formulas, written out, and against torch's own."""

import pytest
import torch
import torch.nn.functional as F

from playground.training.losses import cross_entropy, distillation

S, C = 40, 7


@pytest.fixture
def logits() -> torch.Tensor:
    return torch.randn(S, C, generator=torch.Generator().manual_seed(0), dtype=torch.float64) * 3


@pytest.fixture
def targets() -> torch.Tensor:
    return torch.randint(C, (S,), generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.9])
def test_cross_entropy_is_torchs(logits: torch.Tensor, targets: torch.Tensor, smoothing: float) -> None:
    expected = F.cross_entropy(logits, targets, label_smoothing=smoothing)
    torch.testing.assert_close(cross_entropy(logits, targets, smoothing), expected)


@pytest.mark.parametrize("temperature", [1.0, 5.0])
def test_distillation_is_torchs_divergence(logits: torch.Tensor, temperature: float) -> None:
    teacher = logits.roll(1, 0)
    log_p, q = (logits / temperature).log_softmax(-1), (teacher / temperature).softmax(-1)
    expected = temperature**2 * F.kl_div(log_p, q, reduction="batchmean")
    torch.testing.assert_close(distillation(logits, teacher, temperature), expected)
