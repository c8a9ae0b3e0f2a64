"""For tests of one's own encoder: its intermediates beside the playground's."""

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from playground.diagnosis import diagnose
from playground.model import Encoder


def assert_matches(encoder: Encoder, ids: Tensor, tensors: Mapping[str, Any], mask: Tensor | None = None) -> None:
    """Fail with a report of where they part, and of what would explain it, unless all tensors agree.

    Args:
        encoder: with the same weights.
        ids: token ids (B, T), or raw vectors (B, T, d_model).
        tensors: arrays by the names of a trace, any of them.
        mask: as `Encoder.forward` takes it.

    Raises:
        AssertionError: a tensor differs; and as `diagnose`.
    """
    found = diagnose(encoder, ids, tensors, mask)
    if found.first is not None:
        raise AssertionError(found.report())
