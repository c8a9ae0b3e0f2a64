"""For tests of one's own encoder."""

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from playground.diagnosis import diagnose
from playground.model import Encoder


def assert_matches(encoder: Encoder, ids: Tensor, tensors: Mapping[str, Any], mask: Tensor | None = None) -> None:
    """Fail with a report unless all tensors agree with the encoder's.

    Args:
        encoder: with the same weights.
        ids: (B, T), or raw vectors (B, T, d_model).
        tensors: arrays by the names of a trace.
        mask: as of `Encoder.forward`.
    """
    found = diagnose(encoder, ids, tensors, mask)
    if found.first is not None:
        raise AssertionError(found.report())
