"""Under changes every stage still adds up, and what a change sets stands at its own stage."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from playground import ModelConfig
from playground.analysis.attribution import head_maps, split_score
from playground.analysis.changes import list_changed_points
from playground.analysis.steps import work_out
from playground.analysis.stream_sources import CHANGES, split_stream
from playground.analysis.walkthrough import STAGES, Walk, order
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
from playground.runs.encoder_run import run, trace_layer
from playground.runs.inputs import intervention_subject
from playground.text import characters
from tests.analysis.attribution.walks import small_encoder
from tests.analysis.test_walkthrough import assert_close
from tests.model.strategies import configs

BATCH = characters().encode_batch(["abcdef", "uvwxyz", "abc"])

AT: dict[str, list[Intervention]] = {
    "embedding": [ShufflePositions(1), ShufflePositions(2, 0.5), PatchVector(None, "embed", 2, 1)],
    "projections": [PatchVector(1, "q", 2, 1), PatchVector(1, "k", None, 1), PatchVector(1, "v", 4, 1, 3, 0.25)],
    "mask": [SetWeight(1, 3, 2, 4, 0.0), SetWeight(1, None, 2, 0, 0.75), SetWeight(1, 3, 2, 1, 1.0, strength=0.5),
             HideToken(1, 3, 4), HideToken(1, None, 4, 0.5)],
    "softmax": [SetRow(1, 3, 2, "uniform"), SetRow(1, None, None, "diagonal"), SetRow(1, 3, 2, "copy", 0, 0.5),
                SetWeight(1, 3, 2, 4, 0.5, renormalise=False)],
    "weighted sum": [ZeroHead(1, 3), ZeroHead(1, None, 0.5), AverageHead(1, 3), PatchVector(1, "z", 2, 1)],
    "output projection": [SkipSublayer(1, "attn"), PatchVector(1, "attn", 2, 1)],
    "first residual": [PatchVector(1, "mid", None, 1)],
    "feed-forward": [SkipSublayer(1, "ffn", 0.5), PatchVector(1, "ffn", 2, 1)],
    "second norm": [PatchVector(1, "out", 2, 1)],
}  # fmt: skip
"""Changes of layer 1, of head 3 and of what token 2 asks token 4, by the stage after which they act."""

EVERY = [(stage, change) for stage, changes in AT.items() for change in changes]


def walk_with(config: ModelConfig, *changes: Intervention) -> Walk:
    encoder = small_encoder(**vars(config))
    return Walk(trace_layer(encoder, BATCH, 0, 1, interventions=changes), 3, 2, 4)


@pytest.mark.parametrize(("stage", "change"), EVERY)
def test_a_change_stands_at_its_stage_with_what_it_sets(stage: str, change: Intervention) -> None:
    walk = walk_with(ModelConfig(vocab_size=characters().vocab_size, d_model=16, n_heads=4, n_layers=3), change)
    for name in STAGES:
        points = list_changed_points(walk, name)
        assert [point.changes for point in points] == [(change,)] * (name == stage)
        for point in points:
            assert point.before.shape == point.after.shape
            assert not np.array_equal(point.before, point.after)
            assert len(point.formulas) == 2
    for name in STAGES:
        assert_close(work_out(walk, name), walk.config)


@settings(max_examples=30)
@given(
    config=configs(vocab_size=characters().vocab_size),
    chosen=st.lists(st.sampled_from([change for _, change in EVERY]), max_size=5, unique=True),
)
def test_in_every_architecture_stages_and_sources_add_up_under_changes(
    config: ModelConfig, chosen: list[Intervention]
) -> None:
    encoder = small_encoder(**vars(config))
    changes, _ = intervention_subject(encoder.config, BATCH).split(chosen)
    layer = min(1, config.n_layers - 1)
    walk = Walk(trace_layer(encoder, BATCH, 0, layer, interventions=changes), config.n_heads - 1, 2, 4)
    for stage in order(walk.config):
        assert_close(work_out(walk, stage), walk.config)
    result = run(encoder, BATCH, interventions=changes)
    for depth in range(config.n_layers + 1):
        stream = split_stream(result, encoder, depth)
        assert stream.off <= 1e-5 * max(1.0, float(np.abs(stream.parts).max()))
        is_changed = any(isinstance(each, ShufflePositions | PatchVector) for each in changes)
        assert is_changed or CHANGES not in stream.sources
    split = split_score(walk, split_stream(result, encoder, layer), head_maps(encoder, layer, walk.head))
    assert abs(split.remainder) <= 1e-4 * max(1.0, float(np.abs(split.matrix).max()))


def test_what_a_patch_adds_to_the_stream_is_a_source_of_its_own() -> None:
    encoder = small_encoder()
    untouched = run(encoder, BATCH)
    changed = run(encoder, BATCH, interventions=[PatchVector(0, "mid", 2, 1)])
    stream = split_stream(changed, encoder, 1)
    added = changed.arrays["layers.0.resid_mid"] - untouched.arrays["layers.0.resid_mid"]
    lengths = np.linalg.norm(added, axis=-1)
    assert lengths[2] > 0
    assert stream.written[stream.sources.index(CHANGES)] == pytest.approx(lengths, abs=1e-6)
    assert CHANGES not in split_stream(untouched, encoder, 1).sources
