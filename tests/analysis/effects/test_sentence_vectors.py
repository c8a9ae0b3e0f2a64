"""One vector for a sentence: the mean over its own tokens, beside what goes wrong without the mask."""

import numpy as np
import pytest
import torch

from playground import Encoder, ModelConfig
from playground.analysis.vector_changes import POOLINGS, pool, sentence_similarity, sentence_vector
from playground.runs import run
from playground.text import characters
from tests.model.reference import scramble

SENTENCES = ["a cat", "a dog", "a much longer cat"]
CONFIG = ModelConfig(vocab_size=characters().vocab_size, d_model=16, n_heads=4, n_layers=2, d_ff=32, max_len=32)
ENCODER = scramble(Encoder(CONFIG, seed=5))
BATCH = characters().encode_batch(SENTENCES)
RUNS = [run(ENCODER, BATCH, sentence) for sentence in range(3)]


def test_each_pooling_is_its_mean_in_torch() -> None:
    final = torch.tensor(RUNS[0].arrays["final"])
    expected = {"mean": final[:5].mean(0), "first token": final[0], "mean with padding": final.mean(0)}
    assert set(expected) == set(POOLINGS)
    for pooling in POOLINGS:
        np.testing.assert_allclose(sentence_vector(RUNS[0], pooling), expected[pooling].numpy(), atol=1e-6)
    stacked = np.stack([RUNS[0].arrays["final"]] * 2)
    assert np.array_equal(pool(stacked, RUNS[0].padding)[1], sentence_vector(RUNS[0]))


def test_padding_moves_the_vector_only_where_the_mask_is_forgotten() -> None:
    alone = run(ENCODER, characters().encode_batch(SENTENCES[:1]))
    for pooling in POOLINGS:
        is_same = np.allclose(sentence_vector(alone, pooling), sentence_vector(RUNS[0], pooling), atol=1e-5)
        assert is_same == (pooling != "mean with padding")


@pytest.mark.parametrize("pooling", POOLINGS)
def test_similarities_are_torchs_cosines(pooling: str) -> None:
    vectors = torch.tensor(np.stack([sentence_vector(each, pooling) for each in RUNS]))  # type: ignore[arg-type]
    expected = torch.nn.functional.cosine_similarity(vectors[:, None], vectors[None], dim=-1).numpy()
    np.testing.assert_allclose(sentence_similarity(RUNS, pooling), expected, atol=1e-6)  # type: ignore[arg-type]
