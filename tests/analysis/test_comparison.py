"""Two runs, and two encoders of one seed, beside each other: where they part, what changed, what they share."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from playground import Encoder, ModelConfig
from playground.analysis.comparison import PointDifference, compare_points, moved_weight
from playground.runs.encoder_run import Run, run
from playground.text import characters

CONFIG = ModelConfig(vocab_size=characters().vocab_size, d_model=16, n_heads=4, n_layers=2, d_ff=32, max_len=32)


def run_text(text: str = "abcab", *, seed: int = 0, causal: bool = False, **changes: Any) -> Run:
    """One small run; a second, longer line of the text pads the first."""
    batch = characters().encode_batch(text.split("\n"))
    return run(Encoder(replace(CONFIG, **changes), seed), batch, causal=causal)


def first_apart(pinned: Run, now: Run) -> str | None:
    return next((each.name for each in compare_points(pinned, now) if each.is_apart), None)


@pytest.mark.parametrize(("largest", "size", "apart"), [(5e-4, 1e3, False), (5e-4, 1.0, True), (np.nan, 1.0, True)])
def test_a_difference_is_measured_by_the_largest_number(largest: float, size: float, apart: bool) -> None:
    assert PointDifference("final", largest, size, 0.0).is_apart is apart


@pytest.mark.parametrize(
    ("changes", "first"),
    [
        ({}, None),
        ({"seed": 1}, "embed.out"),
        ({"scale_embeddings": False}, "embed.out"),
        ({"causal": True}, "layers.0.attn.pattern"),
        ({"head_merge": "reshape"}, "layers.0.attn.out"),
        ({"n_heads": 2}, "layers.0.attn.out"),
        ({"residual": False}, "layers.0.resid_mid"),
        ({"activation": "silu"}, "layers.0.ffn.out"),
        ({"n_layers": 3}, "final"),
        ({"final_norm": True}, "final"),
        ({"d_model": 32}, "layers.0.attn.pattern"),
    ],
    ids=str,
)
def test_runs_part_where_the_changed_choice_first_acts(changes: dict[str, Any], first: str | None) -> None:
    pinned, now = run_text(norm_placement="pre"), run_text(**{"norm_placement": "pre"} | changes)
    assert first_apart(pinned, now) == first


def test_padding_takes_no_part_and_other_tokens_are_not_subtracted() -> None:
    alone, padded = run_text("abc"), run_text("abc\na longer line")
    assert compare_points(alone, padded) == []
    changed = replace(padded, arrays={**padded.arrays, "final": padded.arrays["final"].copy()})
    changed.arrays["final"][-1] += 1e6
    assert first_apart(padded, changed) is None
    changed.arrays["final"][0] += 1
    assert first_apart(padded, changed) == "final"


def test_moved_weight_is_half_of_what_the_rows_differ_by() -> None:
    pinned, now = run_text("abcd\na longer line"), run_text("abcd\na longer line", seed=3, n_layers=3)
    shares = moved_weight(pinned, now)
    assert shares.shape == (2, 4)
    rows = [np.abs(now.pattern(1)[2, q] - pinned.pattern(1)[2, q]).sum() / 2 for q in range(4)]
    assert shares[1, 2] == pytest.approx(np.mean(rows), rel=1e-5)
    assert not moved_weight(pinned, pinned).any()
    eye = np.eye(4, dtype=np.float32)[None]
    one = replace(run_text("abcd"), config=replace(CONFIG, n_layers=1, n_heads=1))
    both = (replace(one, arrays={"layers.0.attn.pattern": each}) for each in (eye, np.roll(eye, 1, axis=2)))
    assert moved_weight(*both).tolist() == [[1]]
