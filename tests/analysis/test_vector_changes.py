"""Changes of vectors, attention and sentences, against torch and against what cannot have changed."""

import numpy as np
import pytest
import torch

from playground import Encoder, ModelConfig
from playground.analysis.vector_changes import (
    POOLINGS,
    compare_vectors,
    pool,
    sentence_change,
    sentence_similarity,
    sentence_vector,
    stream_change,
)
from playground.errors import InputError
from playground.model.changes import Change
from playground.runs.encoder_run import run
from playground.text import characters
from tests.model.reference import scramble

CONFIG = ModelConfig(vocab_size=characters().vocab_size, d_model=16, n_heads=4, n_layers=3, d_ff=32, max_len=32)
ENCODER = scramble(Encoder(CONFIG, seed=5))
BATCH = characters().encode_batch(["a cat", "a much longer cat"])
BEFORE = run(ENCODER, BATCH)
AFTER = run(ENCODER, BATCH, interventions=[Change("zero", 1, 2), Change("weight", 2, 0, (3, 1, 0.0))])


def test_a_change_is_torchs_cosine_and_distance() -> None:
    change = stream_change(BEFORE, AFTER)
    assert change.cosine.shape == change.relative.shape == (4, 5)
    for depth, name in enumerate(["embed.out", "layers.0.out", "layers.1.out", "layers.2.out"]):
        one, two = (torch.tensor(each.arrays[name][:5]).double() for each in (BEFORE, AFTER))
        cosine = torch.nn.functional.cosine_similarity(one, two, dim=-1)
        np.testing.assert_allclose(change.cosine[depth], cosine.numpy(), atol=1e-6)
        np.testing.assert_allclose(change.relative[depth], ((two - one).norm(dim=-1) / one.norm(dim=-1)), atol=1e-6)


def test_nothing_has_changed_before_the_first_change() -> None:
    change = stream_change(BEFORE, AFTER)
    assert (change.cosine[:2] == 1).all()
    assert (change.relative[:2] == 0).all()
    assert (change.relative[2:] > 0).all()
    same = stream_change(BEFORE, run(ENCODER, BATCH))
    assert (same.cosine == 1).all()
    assert (same.relative == 0).all()


@pytest.mark.parametrize("pooling", POOLINGS)
def test_a_sentence_changes_as_its_vector_does(pooling: str) -> None:
    change = sentence_change(BEFORE, AFTER, pooling)  # type: ignore[arg-type]
    one, two = (torch.tensor(sentence_vector(each, pooling)) for each in (BEFORE, AFTER))  # type: ignore[arg-type]
    assert float(change.cosine) == pytest.approx(
        float(torch.nn.functional.cosine_similarity(one, two, dim=0)), abs=1e-6
    )
    assert float(change.relative) == pytest.approx(float((two - one).norm() / one.norm()), rel=1e-4)
    assert float(change.relative) > 0


def test_zeros_and_lost_numbers_have_a_change_too() -> None:
    rows = np.array([[0, 0], [0, 0], [1, 0], [1, 0], [np.inf, 0]], dtype=np.float32)
    after = np.array([[0, 0], [3, 4], [0, 0], [-2, 0], [1, 0]], dtype=np.float32)
    change = compare_vectors(rows, after)
    np.testing.assert_array_equal(change.cosine, [1, 0, 0, -1, np.nan])
    np.testing.assert_array_equal(change.relative, [0, np.inf, 1, 3, np.nan])


def test_runs_of_other_tokens_are_not_compared() -> None:
    other = run(ENCODER, BATCH, 1)
    narrow = run(Encoder(ModelConfig(**{**vars(CONFIG), "n_heads": 2})), BATCH)
    for unlike in (other, narrow):
        with pytest.raises(InputError, match="same tokens"):
            stream_change(BEFORE, unlike)
    quiet = run(ENCODER, BATCH, interventions=[Change("off", 0, None, ("attn",), strength=0.0)])
    assert float(sentence_change(BEFORE, quiet).relative) == 0


SENTENCES = ["a cat", "a dog", "a much longer cat"]
TWO_LAYERS = ModelConfig(vocab_size=characters().vocab_size, d_model=16, n_heads=4, n_layers=2, d_ff=32, max_len=32)
SHALLOW = scramble(Encoder(TWO_LAYERS, seed=5))
PADDED = characters().encode_batch(SENTENCES)
RUNS = [run(SHALLOW, PADDED, sentence) for sentence in range(3)]


def test_each_pooling_is_its_mean_in_torch() -> None:
    final = torch.tensor(RUNS[0].arrays["final"])
    expected = {"mean": final[:5].mean(0), "first token": final[0], "mean with padding": final.mean(0)}
    assert set(expected) == set(POOLINGS)
    for pooling in POOLINGS:
        np.testing.assert_allclose(sentence_vector(RUNS[0], pooling), expected[pooling].numpy(), atol=1e-6)
    stacked = np.stack([RUNS[0].arrays["final"]] * 2)
    assert np.array_equal(pool(stacked, RUNS[0].padding)[1], sentence_vector(RUNS[0]))


def test_padding_moves_the_vector_only_where_the_mask_is_forgotten() -> None:
    alone = run(SHALLOW, characters().encode_batch(SENTENCES[:1]))
    for pooling in POOLINGS:
        is_same = np.allclose(sentence_vector(alone, pooling), sentence_vector(RUNS[0], pooling), atol=1e-5)
        assert is_same == (pooling != "mean with padding")


@pytest.mark.parametrize("pooling", POOLINGS)
def test_similarities_are_torchs_cosines(pooling: str) -> None:
    vectors = torch.tensor(np.stack([sentence_vector(each, pooling) for each in RUNS]))  # type: ignore[arg-type]
    expected = torch.nn.functional.cosine_similarity(vectors[:, None], vectors[None], dim=-1).numpy()
    np.testing.assert_allclose(sentence_similarity(RUNS, pooling), expected, atol=1e-6)  # type: ignore[arg-type]
