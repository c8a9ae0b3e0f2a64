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


def test_a_student_that_says_what_its_teacher_says_has_nothing_to_learn(logits: torch.Tensor) -> None:
    student = (logits + 5).requires_grad_()  # a constant on all scores changes no probability
    loss = distillation(student, logits, 3.0)
    loss.backward()  # type: ignore[no-untyped-call]
    assert loss.item() == pytest.approx(0, abs=1e-12)
    assert student.grad is not None
    assert student.grad.abs().max() < 1e-12


def test_the_gradient_of_distillation_tends_to_the_difference_of_scores(logits: torch.Tensor) -> None:
    """Hinton et al. 2015, equation 4: at a high temperature, (z − v) / C for scores of mean 0."""
    student, teacher = logits - logits.mean(-1, keepdim=True), logits.roll(1, 0) - logits.roll(1, 0).mean(-1, True)
    student.requires_grad_()
    distillation(student, teacher, 1e4).backward()  # type: ignore[no-untyped-call]
    assert student.grad is not None
    torch.testing.assert_close(S * student.grad, (student.detach() - teacher) / C, rtol=1e-3, atol=1e-3)
