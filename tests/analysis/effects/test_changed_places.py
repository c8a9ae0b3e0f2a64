"""The places of changes are where the vectors of the two runs first differ, computed without them."""

import numpy as np
import pytest

from playground import Encoder, ModelConfig
from playground.analysis.changes import list_places
from playground.model.changes import Change
from playground.runs.encoder_run import run
from playground.text import characters
from tests.changes import made
from tests.model.reference import scramble

CONFIG = ModelConfig(vocab_size=characters().vocab_size, d_model=16, n_heads=4, n_layers=4, d_ff=32, max_len=8)
BATCH = characters().encode_batch(["abcdef", "fbdace"])
CHANGES: list[Change] = [
    made("1.2:zero"), made("0.1:mean"), made("2.attn:off"), made("3.ffn:off"), made("1.0:cut_3_2"),
    made("2.1:force_4_4_after"), made("1.*:hide_2"), made("1.0:uniform_4"),
    made("2.3:diagonal_*"), made("positions:shuffle_3"), made("embed:patch_2_2"), made("1.mid:patch_0_2"),
    made("2.out:patch_3_2"), made("1.3.q:patch_2_2"), made("1.k:patch_2_2"), made("2.v:patch_0_2"),
    made("1.z:patch_*_2"),
]  # fmt: skip


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_a_place_is_the_first_depth_that_differs_and_the_only_token_that_does_there(change: Change) -> None:
    encoder = scramble(Encoder(CONFIG, seed=3))
    before, after = run(encoder, BATCH, 0), run(encoder, BATCH, 0, interventions=[change])
    points = ["embed.out", *(f"layers.{i}.out" for i in range(CONFIG.n_layers))]
    differs = np.array([np.abs(after.arrays[point] - before.arrays[point]).max(axis=1) > 1e-6 for point in points])
    ((depth, token),) = list_places([change])
    assert differs.any(axis=1).tolist() == [False] * depth + [True] * (len(points) - depth)
    changed = np.flatnonzero(differs[depth]).tolist()
    assert changed == [token] if token is not None else len(changed) > 1


def test_each_place_stands_once_in_the_order_of_the_changes() -> None:
    assert list_places([made("2.0:zero"), made("0.1:zero"), made("2.3:zero"), made("2.1:uniform_4")]) == [
        (3, None),
        (1, None),
        (3, 4),
    ]
