"""Steps, sources and scores of architectures since 2017: each stage by hand, and every split adds up."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from playground.analysis.comparison import name_point
from playground.analysis.steps import work_out
from playground.analysis.stream_sources import split_stream
from playground.analysis.walkthrough import order
from playground.model import Trace
from playground.runs.encoder_run import run, trace_layer
from tests.analysis.walks import BATCH, MODERN, score_of, small_encoder, walk_through
from tests.changes import made


@pytest.mark.parametrize("fields", MODERN, ids=str)
def test_every_stage_by_hand_is_the_models(fields: dict[str, Any]) -> None:
    encoder = small_encoder(**fields)
    for layer, (query, key) in product(range(3), ((3, 1), (0, 5), (2, 2))):
        walk = walk_through(encoder, layer, 1, query, key)
        for stage in order(encoder.config):
            step = work_out(walk, stage)
            assert step.off <= 1e-6, stage
            assert len(step.formulas) > 0
            assert len(step.numbers) > 0


@pytest.mark.parametrize("fields", MODERN, ids=str)
def test_stages_are_those_that_the_architecture_has(fields: dict[str, Any]) -> None:
    stages = order(small_encoder(**fields).config)
    assert ("rotation" in stages) == (fields["positions"] == "rotary")
    assert ("distance bias" in stages) == (fields["positions"] in ("alibi", "relative"))
    assert ("norm of q and k" in stages) == fields.get("qk_norm", False)
    assert ("norm after attention" in stages) == (fields.get("norm_placement") == "both")
    assert len(set(stages)) == len(stages)


@pytest.mark.parametrize("fields", MODERN, ids=str)
def test_every_point_of_a_trace_has_words(fields: dict[str, Any]) -> None:
    encoder, trace = small_encoder(**fields), Trace()
    encoder(BATCH.ids, BATCH.mask, trace)
    words = {name: name_point(name) for name in trace}
    assert not [name for name, told in words.items() if "`" in told]
    assert len(set(words.values())) == len(words)


@pytest.mark.parametrize("fields", MODERN, ids=str)
def test_sources_and_scores_add_up(fields: dict[str, Any]) -> None:
    encoder = small_encoder(**fields)
    result = run(encoder, BATCH)
    for layer in range(4):
        assert split_stream(result, encoder, layer).off <= 1e-6
    places = ((3, 1, 2), (0, 1, 0), (2, 3, 4))  # one a head, another in each layer
    for layer, head in product(range(3), range(4)):
        query, key, opponent = places[(layer + head) % 3]
        walk = walk_through(encoder, layer, head, query, key)
        scores = walk.unmasked()
        np.testing.assert_allclose(scores[walk.allowed], walk.of_query("attn.scores")[walk.allowed], atol=1e-6)
        against = score_of(encoder, walk, opponent=opponent)
        assert against.matrix.sum() == pytest.approx(scores[key], abs=1e-6)
        assert against.relative.sum() == pytest.approx(scores[key] - scores[opponent], abs=1e-6)
        mean = score_of(encoder, walk)
        assert mean.relative.sum() == pytest.approx(scores[key] - scores[walk.allowed].mean(), abs=1e-6)
        has_bias = fields["positions"] in ("alibi", "relative")
        assert ("distance" in [source.name for source in mean.sources]) == has_bias
        for matrix in (mean.matrix, mean.relative) if has_bias else ():
            assert not matrix[-1, :-1].any(), "no vector asks for a distance"
            assert not matrix[:-1, -1].any()


def test_a_window_is_a_mask_of_its_layers() -> None:
    encoder = small_encoder(window=2, global_every=2)
    result = run(encoder, BATCH)
    near = np.abs(np.arange(6)[:, None] - np.arange(6)) <= 1
    assert result.allowed_in(0).all()
    assert (result.allowed_in(1) == near).all()
    assert (result.pattern(1)[:, ~near] == 0).all()
    assert (result.pattern(0)[:, ~near] > 0).all()


@pytest.mark.parametrize("fields", MODERN, ids=str)
def test_changes_apply(fields: dict[str, Any]) -> None:
    encoder = small_encoder(**fields)
    changed = run(encoder, BATCH, interventions=[made("1.2:zero"), made("2.ffn:off")])
    assert (changed.arrays["layers.2.ffn.out"] == 0).all()
    assert trace_layer(encoder, BATCH, 0, 1, interventions=changed.interventions)["attn.z"][2].max() == 0
