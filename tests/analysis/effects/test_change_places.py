"""The places of changes are where the vectors of the two runs first differ, computed without them."""

import numpy as np
import pytest

from playground import Encoder, ModelConfig
from playground.analysis.changes import list_places
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
from playground.runs.encoder_run import run
from playground.text import characters
from tests.model.reference import scramble

CONFIG = ModelConfig(vocab_size=characters().vocab_size, d_model=16, n_heads=4, n_layers=4, d_ff=32, max_len=8)
BATCH = characters().encode_batch(["abcdef", "fbdace"])
CHANGES: list[Intervention] = [
    ZeroHead(1, 2), AverageHead(0, 1), SkipSublayer(2, "attn"), SkipSublayer(3, "ffn"), SetWeight(1, 0, 3, 2, 0.0),
    SetWeight(2, 1, 4, 4, 1.0, renormalise=False), HideToken(1, None, 2), SetRow(1, 0, 4, "uniform"),
    SetRow(2, 3, None, "diagonal"), ShufflePositions(3), PatchVector(None, "embed", 2, 1), PatchVector(1, "mid", 0, 1),
    PatchVector(2, "out", 3, 1), PatchVector(1, "q", 2, 1, 3), PatchVector(1, "k", 2, 1), PatchVector(2, "v", 0, 1),
    PatchVector(1, "z", None, 1),
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.label)
def test_a_place_is_the_first_depth_that_differs_and_the_only_token_that_does_there(change: Intervention) -> None:
    encoder = scramble(Encoder(CONFIG, seed=3))
    before, after = run(encoder, BATCH, 0), run(encoder, BATCH, 0, interventions=[change])
    points = ["embed.out", *(f"layers.{i}.out" for i in range(CONFIG.n_layers))]
    differs = np.array([np.abs(after.arrays[point] - before.arrays[point]).max(axis=1) > 1e-6 for point in points])
    ((depth, token),) = list_places([change])
    assert differs.any(axis=1).tolist() == [False] * depth + [True] * (len(points) - depth)
    changed = np.flatnonzero(differs[depth]).tolist()
    assert changed == [token] if token is not None else len(changed) > 1


def test_each_place_stands_once_in_the_order_of_the_changes() -> None:
    assert list_places([ZeroHead(2, 0), ZeroHead(0, 1), ZeroHead(2, 3), SetRow(2, 1, 4, "uniform")]) == [
        (3, None),
        (1, None),
        (3, 4),
    ]
