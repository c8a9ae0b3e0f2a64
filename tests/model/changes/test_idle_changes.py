"""A change that another one takes the effect from is found, and no other."""

from itertools import permutations

import pytest
import torch

from playground.model.changes import HEAD_POINTS, Change
from playground.model.interventions import find_idle
from tests.changes import made
from tests.model.changes.changed_pass import build, changed_trace

CUT = made("1.2:cut_3_1")
COPY = made("1.0:copy_*_2")
EVEN = made("1.*:uniform_*")
PATCHES: list[Change] = [Change("patch", 1, 2, (point, 2, 1)) for point in HEAD_POINTS]
CASES: list[tuple[list[Change], list[Change]]] = [
    ([made("1.2:zero"), CUT], [CUT]),
    ([CUT, made("1.*:zero")], [CUT]),
    ([made("1.2:zero"), made("1.2:hide_1")], [made("1.2:hide_1")]),
    ([made("1.2:zero"), made("1.*:hide_1")], []),
    ([made("1.2:zero~0.5"), CUT], []),
    ([made("1.1:zero"), CUT], []),
    ([made("0.2:zero"), CUT], []),
    ([made("1.2:zero"), CUT, COPY], []),
    ([made("1.attn:off"), CUT, COPY], [CUT, COPY]),
    ([made("1.ffn:off"), CUT], []),
    ([made("1.0:zero"), made("1.1:zero"), EVEN], []),
    ([made("1.0:zero"), made("1.1:zero"), made("1.2:zero"), EVEN], [EVEN]),
    (
        [made("1.attn:off"), made("1.0:zero"), made("1.1:mean")],
        [made("1.0:zero"), made("1.1:mean")],
    ),
    *[([made("1.2:zero"), each], [each]) for each in PATCHES],
    ([made("1.2:zero"), made("1.attn:patch_2_2")], []),
    ([made("1.attn:off"), one := made("1.attn:patch_2_2")], [one]),
    ([made("1.ffn:off"), one := made("1.ffn:patch_2_2")], [one]),
    ([made("1.ffn:off"), made("1.mid:patch_2_2")], []),
    (
        [made("1.attn:off"), made("embed:patch_2_2"), made("positions:shuffle_1")],
        [],
    ),
]


@pytest.mark.parametrize(("changes", "idle"), CASES)
def test_what_is_idle_changes_nothing_that_follows_and_all_else_does(changes: list[Change], idle: list[Change]) -> None:
    model = build("post")
    for order in permutations(changes):
        assert set(find_idle(order, 3)) == set(idle)
    with torch.no_grad():
        rows = [changes, *([other for other in changes if other != each] for each in changes)]
        after = changed_trace(model, rows)["layers.1.out"]
    for each, without in zip(changes, after[1:], strict=True):
        assert torch.allclose(after[0], without, rtol=0, atol=1e-12) == (each in idle)
