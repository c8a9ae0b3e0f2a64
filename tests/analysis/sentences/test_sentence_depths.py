"""Sentence vectors at every depth: against a trained BERT of another library, and against runs one by one."""

from pathlib import Path

import numpy as np
import pytest

from playground import Encoder, ModelConfig
from playground.analysis.sentences import list_depths, name_depths, read_depths
from playground.analysis.vector_changes import POOLINGS, sentence_similarity, sentence_vector
from playground.model.changes import Change
from playground.runs import run
from playground.text import characters
from playground.weights.checkpoint import load
from tests.model.reference import scramble

SENTENCES = ["a cat", "a dog", "a much longer cat"]
FIELDS = {"vocab_size": characters().vocab_size, "d_model": 16, "n_heads": 4, "n_layers": 2, "d_ff": 32, "max_len": 32}
BATCH = characters().encode_batch(SENTENCES)
ORACLE = Path(__file__).parents[2] / "data" / "f_minilm_hf_bert.npz"


def test_the_trained_models_sentence_vectors_are_the_means_of_the_librarys_bert() -> None:
    with np.load(ORACLE, allow_pickle=False) as file:
        sentences, states, mask = (file[name] for name in ("sentences", "hidden_states", "mask"))
    encoder, tokenizer = load("minilm")
    depths = read_depths(encoder, tokenizer.encode_batch([str(sentence) for sentence in sentences]))
    counted = mask[None, :, :, None].astype(np.float64)
    means = (states.astype(np.float64) * counted).sum(axis=2) / counted.sum(axis=2)  # (7, 2, 384)
    np.testing.assert_allclose(depths.pooled["mean"], means, atol=2e-5)
    np.testing.assert_allclose(depths.pooled["first token"], states[:, :, 0], atol=2e-5)
    one, other = means[-1]
    cosine = one @ other / np.linalg.norm(one) / np.linalg.norm(other)
    assert depths.similarity("mean")[0, 1] == pytest.approx(cosine, abs=1e-5)


def test_the_trained_model_puts_paraphrases_closer_than_other_topics_and_hardly_sees_a_negation() -> None:
    encoder, tokenizer = load("minilm")
    pairs = [
        ("A woman is slicing an onion.", "Someone cuts a vegetable.", "The bank raised its rates."),
        ("The film was good.", "I enjoyed the movie.", "The tide rises twice a day."),
        ("How do I reset my password?", "I forgot my login, how can I change it?", "Snow fell all night."),
    ]
    for triple in pairs:
        cosines = read_depths(encoder, tokenizer.encode_batch(triple)).similarity("mean")
        assert cosines[0, 1] > 0.5 > 0.2 > cosines[0, 2]
    turned = ["The film was good.", "The film was not good.", "The dog bit the man.", "The man bit the dog."]
    cosines = read_depths(encoder, tokenizer.encode_batch(turned)).similarity("mean")
    assert cosines[0, 1] > 0.75
    assert cosines[2, 3] > 0.95
    assert cosines[0, 2] < 0.3


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("final_norm", "norm"), [(False, "layer"), (True, "rms"), (True, "none")])
def test_every_depth_is_pooled_from_the_runs_of_each_sentence(final_norm: bool, norm: str, causal: bool) -> None:
    config = ModelConfig(**FIELDS, norm=norm, final_norm=final_norm, norm_placement="pre")  # type: ignore[arg-type]
    encoder = scramble(Encoder(config, seed=5))
    changes = [[], [Change("off", 1, None, ("attn",))], []]
    depths = read_depths(encoder, BATCH, causal=causal, interventions=changes)
    points = list_depths(config)
    assert len(points) == len(name_depths(config)) == 3 + (final_norm and norm != "none")
    runs = [run(encoder, BATCH, i, causal=causal, interventions=changes[i]) for i in range(3)]
    for i, each in enumerate(runs):
        assert depths.tokens[i] == each.tokens
        np.testing.assert_array_equal(depths.padding[i], each.padding)
        np.testing.assert_allclose(depths.final[i], each.arrays["final"], atol=1e-5)
        for depth, point in enumerate(points):
            expected = each.arrays[point][~each.padding].astype(np.float64).mean(axis=0)
            np.testing.assert_allclose(depths.pooled["mean"][depth, i], expected, atol=1e-5)
        for pooling in POOLINGS:
            np.testing.assert_allclose(depths.pooled[pooling][-1, i], sentence_vector(each, pooling), atol=1e-5)
    for pooling in POOLINGS:
        np.testing.assert_allclose(depths.similarity(pooling), sentence_similarity(runs, pooling), atol=1e-5)
    assert depths.n_tokens == [5, 5, 17]
    assert depths.is_finite


def test_numbers_that_have_left_the_range_are_found() -> None:
    config = ModelConfig(**FIELDS | {"norm": "none", "n_layers": 96, "d_model": 64})  # type: ignore[arg-type]
    assert not read_depths(Encoder(config, seed=0), BATCH).is_finite
