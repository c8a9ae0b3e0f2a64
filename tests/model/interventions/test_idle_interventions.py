"""A change that another one takes the effect from is found, and no other."""

from itertools import permutations

import pytest
import torch

from playground.model.interventions import (
    AverageHead,
    HideToken,
    Intervention,
    PatchVector,
    SetRow,
    SetWeight,
    ShufflePositions,
    SkipSublayer,
    ZeroHead,
)
from playground.model.interventions.idle_interventions import find_idle
from playground.model.interventions.intervention_kinds import HEAD_POINTS
from tests.model.interventions.changed_pass import build, changed_trace

CUT = SetWeight(1, 2, 3, 1, 0.0)
COPY = SetRow(1, 0, None, "copy", 2)
EVEN = SetRow(1, None, None, "uniform")
PATCHES: list[Intervention] = [PatchVector(1, point, 2, 1, 2) for point in HEAD_POINTS]
CASES: list[tuple[list[Intervention], list[Intervention]]] = [
    ([ZeroHead(1, 2), CUT], [CUT]),
    ([CUT, ZeroHead(1, None)], [CUT]),
    ([ZeroHead(1, 2), HideToken(1, 2, 1)], [HideToken(1, 2, 1)]),
    ([ZeroHead(1, 2), HideToken(1, None, 1)], []),
    ([ZeroHead(1, 2, 0.5), CUT], []),
    ([ZeroHead(1, 1), CUT], []),
    ([ZeroHead(0, 2), CUT], []),
    ([ZeroHead(1, 2), CUT, COPY], []),
    ([SkipSublayer(1, "attn"), CUT, COPY], [CUT, COPY]),
    ([SkipSublayer(1, "ffn"), CUT], []),
    ([ZeroHead(1, 0), ZeroHead(1, 1), EVEN], []),
    ([ZeroHead(1, 0), ZeroHead(1, 1), ZeroHead(1, 2), EVEN], [EVEN]),
    ([SkipSublayer(1, "attn"), ZeroHead(1, 0), AverageHead(1, 1)], [ZeroHead(1, 0), AverageHead(1, 1)]),
    *[([ZeroHead(1, 2), each], [each]) for each in PATCHES],
    ([ZeroHead(1, 2), PatchVector(1, "attn", 2, 1)], []),
    ([SkipSublayer(1, "attn"), one := PatchVector(1, "attn", 2, 1)], [one]),
    ([SkipSublayer(1, "ffn"), one := PatchVector(1, "ffn", 2, 1)], [one]),
    ([SkipSublayer(1, "ffn"), PatchVector(1, "mid", 2, 1)], []),
    ([SkipSublayer(1, "attn"), PatchVector(None, "embed", 2, 1), ShufflePositions(1)], []),
]


@pytest.mark.parametrize(("changes", "idle"), CASES)
def test_what_is_idle_changes_nothing_that_follows_and_all_else_does(
    changes: list[Intervention], idle: list[Intervention]
) -> None:
    model = build("post")
    for order in permutations(changes):
        assert set(find_idle(order, 3)) == set(idle)
    with torch.no_grad():
        rows = [changes, *([other for other in changes if other != each] for each in changes)]
        after = changed_trace(model, rows)["layers.1.out"]
    for each, without in zip(changes, after[1:], strict=True):
        assert torch.allclose(after[0], without, rtol=0, atol=1e-12) == (each in idle)
