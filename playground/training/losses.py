"""What a training run makes small: cross-entropy, with smoothed labels, or beside a teacher's scores.

Legend: S scored positions, C classes.
"""

from torch import Tensor


def cross_entropy(logits: Tensor, targets: Tensor, smoothing: float = 0.0) -> Tensor:
    """−∑ₖ qₖ log softmax(logits)ₖ, in nats, averaged; q is 1 − ε + ε/C at the target and ε/C elsewhere.

    Logits are (S, C), targets (S,) int64, and ε is `smoothing`.
    Source: label smoothing, Szegedy et al. 2016, section 7; Vaswani et al. 2017, section 5.4 (ε = 0.1).
    """
    log_p = logits.log_softmax(dim=-1)  # (S, C)
    right = -log_p.gather(-1, targets[:, None]).mean()
    if smoothing == 0:
        return right
    return (1 - smoothing) * right - smoothing * log_p.mean()


def distillation(student: Tensor, teacher: Tensor, temperature: float) -> Tensor:
    """τ² KL(softmax(teacher/τ) ‖ softmax(student/τ)), in nats, averaged (Hinton et al. 2015, section 2).

    Both are logits (S, C). τ² keeps the gradient as large as the cross-entropy's, whatever the temperature.
    """
    log_p = (student / temperature).log_softmax(dim=-1)
    log_q = (teacher / temperature).log_softmax(dim=-1)
    return temperature**2 * (log_q.exp() * (log_q - log_p)).sum(dim=-1).mean()
