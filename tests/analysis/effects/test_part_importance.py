"""Each part's effect is that of a run without it; the steps grow towards the whole map."""

import numpy as np
import pytest
import torch

from playground import Encoder, ModelConfig
from playground.analysis.part_importance import (
    HeadsTogether,
    compare_together,
    list_edges,
    list_heads,
    list_sublayers,
    map_heads,
    map_sublayers,
    measure_parts,
)
from playground.analysis.vector_changes import POOLINGS, sentence_change
from playground.errors import InterventionError
from playground.model.interventions import SetWeight, ZeroHead
from playground.runs import intervention_subject, run
from playground.text import characters
from tests.model.reference import scramble

CONFIG = ModelConfig(vocab_size=characters().vocab_size, d_model=16, n_heads=4, n_layers=3, d_ff=32, max_len=32)
ENCODER = scramble(Encoder(CONFIG, seed=5))
BATCH = characters().encode_batch(["a cat", "a much longer cat"])


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("causal", [False, True])
def test_every_effect_is_that_of_a_run_without_the_part(pooling: str, causal: bool) -> None:
    untouched = run(ENCODER, BATCH, causal=causal)
    parts = [*list_heads(CONFIG), *list_sublayers(CONFIG)]
    steps = measure_parts(ENCODER, BATCH, 0, untouched, parts, pooling=pooling, causal=causal)  # type: ignore[arg-type]
    effects = [effect for step in steps for effect in step]
    assert sorted(parts.index(effect.part) for effect in effects) == list(range(12 + 6))
    for effect in effects:
        alone = run(ENCODER, BATCH, causal=causal, interventions=[effect.part])
        change = sentence_change(untouched, alone, pooling)  # type: ignore[arg-type]
        assert effect.cosine == pytest.approx(float(change.cosine), abs=1e-5)
        assert effect.relative == pytest.approx(float(change.relative), abs=1e-5)
        assert effect.relative > 1e-4


def test_maps_fill_step_by_step() -> None:
    untouched, seen, filled = run(ENCODER, BATCH), [], []
    for step in measure_parts(ENCODER, BATCH, 0, untouched, [*list_heads(CONFIG), *list_sublayers(CONFIG)]):
        seen += step
        filled.append(int(np.isfinite(map_heads(seen, CONFIG)).sum() + np.isfinite(map_sublayers(seen, CONFIG)).sum()))
    assert filled == [6, 12, 18]  # a layer a step: its four heads and two sublayers
    effect = next(each for each in seen if each.part == ZeroHead(2, 3))
    assert map_heads(seen, CONFIG)[2, 3] == np.float32(effect.relative)
    assert map_heads([], CONFIG).shape == (3, 4)
    assert map_sublayers([], CONFIG).shape == (3, 2)


def test_a_head_without_a_way_out_has_no_effect() -> None:
    deaf = scramble(Encoder(CONFIG, seed=5))
    with torch.no_grad():
        deaf.get_parameter("layers.1.attn.o.weight")[:, 4:8] = 0
    untouched = run(deaf, BATCH)
    effects = [each for step in measure_parts(deaf, BATCH, 0, untouched, list_heads(CONFIG)) for each in step]
    heads = map_heads(effects, CONFIG)
    assert heads[1, 1] < 1e-6
    assert (np.delete(heads.ravel(), 5) > 1e-4).all()


def test_edges_are_all_that_a_head_may_link_but_last_keys() -> None:
    edges = list_edges(intervention_subject(ENCODER.config, BATCH), 1, 2)
    assert [(edge.query, edge.key) for edge in edges] == [(query, key) for query in range(5) for key in range(5)]
    behind = list_edges(intervention_subject(ENCODER.config, BATCH, causal=True), 1, 2)
    assert [(edge.query, edge.key) for edge in behind] == [(q, k) for q in range(1, 5) for k in range(q + 1)]
    untouched = run(ENCODER, BATCH)
    effects = [each for step in measure_parts(ENCODER, BATCH, 0, untouched, edges) for each in step]
    assert [effect.part for effect in effects] == edges
    with pytest.raises(InterventionError):
        list(measure_parts(ENCODER, BATCH, 0, untouched, [SetWeight(1, 2, 9, 0, 0.0)]))


def test_heads_replace_each_other_where_together_they_bring_more_than_one_by_one() -> None:
    heads = np.array([[0.01, -0.02, 0.0], [-0.3, 0.1, 0.05]])
    found = compare_together(heads, np.array([-0.88, 0.4]))
    assert found == HeadsTogether(0, -0.02, -0.88, replaced=True)
    assert compare_together(heads, np.array([0.05, 0.5])) == HeadsTogether(1, -0.3, 0.5, replaced=False)
    assert compare_together(heads[:, :1], np.array([0.05, 0.5])) is None, "one head is all of its layer"
    assert compare_together(heads, np.array([np.nan, 0.5])) is None, "not measured yet"
