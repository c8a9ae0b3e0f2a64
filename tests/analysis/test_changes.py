"""Under changes every stage still adds up, and a change stands where the two runs first differ."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from playground import Encoder, ModelConfig
from playground.analysis.attribution import head_maps, split_score
from playground.analysis.comparison import compare_vectors, list_places, sentence_change, stream_change
from playground.analysis.steps import list_changed_points, order, work_out
from playground.analysis.streams import CHANGES, residual_stream, split_stream
from playground.analysis.walkthrough import Walk
from playground.errors import InputError
from playground.model.change_texts import write_formula
from playground.model.changes import Change
from playground.model.interventions import divide_changes
from playground.runs.encoder_run import intervention_subject, run, trace_layer
from playground.text import characters
from playground.text.wording import number
from tests.analysis.test_walkthrough import assert_close
from tests.analysis.walks import small_encoder
from tests.changes import made
from tests.model.reference import scramble
from tests.model.strategies import configs

THREE = characters().encode_batch(["abcdef", "uvwxyz", "abc"])

AT: dict[str, list[Change]] = {
    "embedding": [made("positions:shuffle_1"), made("positions:shuffle_2~0.5"), made("embed:patch_2_2")],
    "projections": [made("1.q:patch_2_2"), made("1.k:patch_*_2"), made("1.3.v:patch_4_2~0.25")],
    "mask": [made("1.3:cut_2_4"), made("1.*:weight_2_0_0.75"), made("1.3:force_2_1~0.5"),
             made("1.3:hide_4"), made("1.*:hide_4~0.5")],
    "softmax": [made("1.3:uniform_2"), made("1.*:diagonal_*"), made("1.3:copy_2_0~0.5"),
                made("1.3:weight_2_4_0.5_after")],
    "weighted sum": [made("1.3:zero"), made("1.*:zero~0.5"), made("1.3:mean"), made("1.z:patch_2_2")],
    "output projection": [made("1.attn:off"), made("1.attn:patch_2_2")],
    "first residual": [made("1.mid:patch_*_2")],
    "feed-forward": [made("1.ffn:off~0.5"), made("1.ffn:patch_2_2")],
    "second norm": [made("1.out:patch_2_2")],
}  # fmt: skip
"""Changes of layer 1, of head 3 and of what token 2 asks token 4, by the stage after which they act."""

EVERY = [(stage, change) for stage, changes in AT.items() for change in changes]


def walk_with(config: ModelConfig, *changes: Change) -> Walk:
    encoder = small_encoder(**vars(config))
    return Walk(trace_layer(encoder, THREE, 0, 1, interventions=changes), 3, 2, 4)


@pytest.mark.parametrize(("stage", "change"), EVERY)
def test_a_change_stands_at_its_stage_with_what_it_sets(stage: str, change: Change) -> None:
    walk = walk_with(ModelConfig(vocab_size=characters().vocab_size, d_model=16, n_heads=4, n_layers=3), change)
    for name in order(walk.config):
        points = list_changed_points(walk, name)
        assert [point.changes for point in points] == [(change,)] * (name == stage)
        for point in points:
            assert point.before.shape == point.after.shape
            assert not np.array_equal(point.before, point.after)
            assert len(point.formulas) == 2
    for name in order(walk.config):
        assert_close(work_out(walk, name), walk.config)


SHARED = r"s_{t,4} \leftarrow \log \sum_{i \ne 4} e^{s_{t,i}} + \log \frac{w}{1 - w}, \quad w = "


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("1.3:cut_2_4", r"s_{t,4} \leftarrow -\infty"),
        ("1.3:cut_2_4~0.5", rf"{SHARED}(1 - 0.5)\, a_{{t,4}} + 0.5 \cdot 0"),
        ("1.3:force_2_4", r"s_{t,i} \leftarrow -\infty \quad \text{for all } i \ne 4"),
        ("1.3:weight_2_4_0.25", rf"{SHARED}0.25"),
        ("1.3:zero", r"s_{t,j} \leftarrow 0"),
        ("1.3:zero~0.5", r"s_{t,j} \leftarrow (1 - 0.5)\, s_{t,j} + 0.5 \cdot \left(0\right)"),
    ],
)
def test_a_formula_has_the_weight_and_the_strength(text: str, formula: str) -> None:
    assert write_formula(made(text), "s_{t,j}", number) == formula


@given(
    config=configs(vocab_size=characters().vocab_size),
    chosen=st.lists(st.sampled_from([change for _, change in EVERY]), max_size=5, unique=True),
)
def test_in_every_architecture_stages_and_sources_add_up_under_changes(
    config: ModelConfig, chosen: list[Change]
) -> None:
    encoder = small_encoder(**vars(config))
    changes, _ = divide_changes(intervention_subject(encoder.config, THREE), tuple(chosen))
    layer = min(1, config.n_layers - 1)
    walk = Walk(trace_layer(encoder, THREE, 0, layer, interventions=changes), config.n_heads - 1, 2, 4)
    for stage in order(walk.config):
        assert_close(work_out(walk, stage), walk.config)
    result = run(encoder, THREE, interventions=changes)
    for depth in range(config.n_layers):
        stream = split_stream(result, encoder, depth)
        size = max(1.0, max(float(np.abs(part).max()) for part in stream.values()))
        np.testing.assert_allclose(sum(stream.values()), result.arrays[f"layers.{depth}.attn.in"], atol=1e-5 * size)
        is_changed = any(each.kind in ("shuffle", "patch") for each in changes)
        assert is_changed or CHANGES not in stream
    split = split_score(walk, split_stream(result, encoder, layer), head_maps(encoder, layer, walk.head))
    tolerance, scores = 1e-5 * max(1.0, float(np.abs(split.matrix).max())), walk.computed("attn.scores")
    if walk.allowed[walk.key]:
        assert split.matrix.sum() == pytest.approx(scores[walk.key], abs=tolerance)
        assert split.relative.sum() == pytest.approx(scores[walk.key] - scores[walk.allowed].mean(), abs=tolerance)
    assert max(abs(split.score - split.matrix.sum()), abs(split.relative_remainder)) <= tolerance
    np.testing.assert_allclose(split.by_key_source.sum(), split.relative.sum(), atol=tolerance)


FOUR_LAYERS = ModelConfig(vocab_size=characters().vocab_size, d_model=16, n_heads=4, n_layers=4, d_ff=32, max_len=8)
SAME_LETTERS = characters().encode_batch(["abcdef", "fbdace"])
PLACED: list[Change] = [
    made("1.2:zero"), made("0.1:mean"), made("2.attn:off"), made("3.ffn:off"), made("1.0:cut_3_2"),
    made("2.1:force_4_4_after"), made("1.*:hide_2"), made("1.0:uniform_4"),
    made("2.3:diagonal_*"), made("positions:shuffle_3"), made("embed:patch_2_2"), made("1.mid:patch_0_2"),
    made("2.out:patch_3_2"), made("1.3.q:patch_2_2"), made("1.k:patch_2_2"), made("2.v:patch_0_2"),
    made("1.z:patch_*_2"),
]  # fmt: skip


@pytest.mark.parametrize("change", PLACED, ids=str)
def test_a_place_is_the_first_depth_that_differs_and_the_only_token_that_does_there(change: Change) -> None:
    encoder = scramble(Encoder(FOUR_LAYERS, seed=3))
    before, after = run(encoder, SAME_LETTERS, 0), run(encoder, SAME_LETTERS, 0, interventions=[change])
    points = ["embed.out", *(f"layers.{i}.out" for i in range(FOUR_LAYERS.n_layers))]
    differs = np.array([np.abs(after.arrays[point] - before.arrays[point]).max(axis=1) > 1e-6 for point in points])
    ((depth, token),) = list_places([change])
    assert differs.any(axis=1).tolist() == [False] * depth + [True] * (len(points) - depth)
    changed = np.flatnonzero(differs[depth]).tolist()
    assert changed == [token] if token is not None else len(changed) > 1


CONFIG = ModelConfig(vocab_size=characters().vocab_size, d_model=16, n_heads=4, n_layers=3, d_ff=32, max_len=32)
ENCODER = scramble(Encoder(CONFIG, seed=5))
BATCH = characters().encode_batch(["a cat", "a much longer cat"])
BEFORE = run(ENCODER, BATCH)
AFTER = run(ENCODER, BATCH, interventions=[Change("zero", 1, 2), Change("weight", 2, 0, (3, 1, 0.0))])


def test_a_change_is_torchs_cosine_and_distance() -> None:
    cosines, relative = compare_vectors(residual_stream(BEFORE), residual_stream(AFTER))
    np.testing.assert_array_equal(relative, stream_change(BEFORE, AFTER))
    assert cosines.shape == relative.shape == (4, 5)
    for depth, name in enumerate(["embed.out", "layers.0.out", "layers.1.out", "layers.2.out"]):
        one, two = (torch.tensor(each.arrays[name][:5]).double() for each in (BEFORE, AFTER))
        cosine = torch.nn.functional.cosine_similarity(one, two, dim=-1)
        np.testing.assert_allclose(cosines[depth], cosine.numpy(), atol=1e-6)
        np.testing.assert_allclose(relative[depth], ((two - one).norm(dim=-1) / one.norm(dim=-1)), atol=1e-6)
    assert (cosines[:2] == 1).all(), "nothing has changed before the first change"
    assert (relative[:2] == 0).all()


def test_zeros_and_lost_numbers_have_a_change_too() -> None:
    rows = np.array([[0, 0], [0, 0], [1, 0], [1, 0], [np.inf, 0]], dtype=np.float32)
    after = np.array([[0, 0], [3, 4], [0, 0], [-2, 0], [1, 0]], dtype=np.float32)
    cosine, relative = compare_vectors(rows, after)
    np.testing.assert_array_equal(cosine, [1, 0, 0, -1, np.nan])
    np.testing.assert_array_equal(relative, [0, np.inf, 1, 3, np.nan])


def test_runs_of_other_tokens_are_not_compared() -> None:
    other = run(ENCODER, BATCH, 1)
    narrow = run(Encoder(ModelConfig(**{**vars(CONFIG), "n_heads": 2})), BATCH)
    for unlike in (other, narrow):
        with pytest.raises(InputError, match="same tokens"):
            stream_change(BEFORE, unlike)
    quiet = run(ENCODER, BATCH, interventions=[Change("off", 0, None, ("attn",), strength=0.0)])
    assert sentence_change(BEFORE, quiet) == 0
