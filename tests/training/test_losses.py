"""Losses against their formulas, written out, and against torch's own."""

import math

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


def test_label_smoothing_is_the_paper_s_formula(logits: torch.Tensor, targets: torch.Tensor) -> None:
    epsilon, total = 0.1, 0.0
    for row, target in zip(logits.tolist(), targets.tolist(), strict=True):
        log_sum = math.log(sum(math.exp(score) for score in row))
        for k, score in enumerate(row):
            q = (1 - epsilon) * (k == target) + epsilon / C
            total -= q * (score - log_sum)
    assert cross_entropy(logits, targets, epsilon).item() == pytest.approx(total / S, rel=1e-12)


@pytest.mark.parametrize("temperature", [1.0, 2.0, 5.0])
def test_distillation_is_the_paper_s_formula(logits: torch.Tensor, temperature: float) -> None:
    teacher, total = logits.roll(1, 0), 0.0
    for row, theirs in zip(logits.tolist(), teacher.tolist(), strict=True):
        q = [math.exp(score / temperature) for score in theirs]
        p = [math.exp(score / temperature) for score in row]
        q, p = [value / sum(q) for value in q], [value / sum(p) for value in p]
        total += sum(b * math.log(b / a) for a, b in zip(p, q, strict=True))
    expected = temperature**2 * total / S
    assert distillation(logits, teacher, temperature).item() == pytest.approx(expected, rel=1e-10)
    of_torch = F.kl_div(
        (logits / temperature).log_softmax(-1), (teacher / temperature).softmax(-1), reduction="batchmean"
    )
    torch.testing.assert_close(distillation(logits, teacher, temperature), temperature**2 * of_torch)


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
