"""Sentence vectors at every depth, pairs and words: against another library, and runs one by one."""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch

from playground import Encoder, ModelConfig
from playground.analysis import sentences
from playground.analysis.sentences import (
    POOLINGS,
    Encode,
    Pair,
    Pooling,
    append_sentences,
    changed_tokens,
    common_tokens,
    compare_word_by_depth,
    corrupt_word,
    find_partners,
    find_repeated_words,
    leave_words_out,
    list_alike,
    rank_pairs,
    read_depths,
    sentence_vector,
    token_contributions,
    token_weights,
)
from playground.model.changes import Change
from playground.runs.encoder_run import run
from playground.text import Batch, Tokenizer, build_tokenizer, characters, words
from playground.weights import checkpoint
from tests.model.reference import scramble

SHORT_AND_LONG = ["a cat", "a dog", "a much longer cat"]
FIELDS = {"vocab_size": characters().vocab_size, "d_model": 16, "n_heads": 4, "n_layers": 2, "d_ff": 32, "max_len": 32}
BATCH = characters().encode_batch(SHORT_AND_LONG)
ORACLE = Path(__file__).parents[1] / "data" / "f_minilm_hf_bert.npz"


def test_the_trained_models_sentence_vectors_are_the_means_of_the_librarys_bert() -> None:
    with np.load(ORACLE, allow_pickle=False) as file:
        sentences, states, mask = (file[name] for name in ("sentences", "hidden_states", "mask"))
    encoder, tokenizer = checkpoint.load("minilm")
    depths = read_depths(encoder, tokenizer.encode_batch([str(sentence) for sentence in sentences]))
    counted = mask[None, :, :, None].astype(np.float64)
    means = (states.astype(np.float64) * counted).sum(axis=2) / counted.sum(axis=2)  # (7, 2, 384)
    np.testing.assert_allclose(depths.pooled["mean"], means, atol=2e-5)
    np.testing.assert_allclose(depths.pooled["first token"], states[:, :, 0], atol=2e-5)
    one, other = means[-1]
    cosine = one @ other / np.linalg.norm(one) / np.linalg.norm(other)
    assert depths.similarity("mean")[0, 1] == pytest.approx(cosine, abs=1e-5)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("final_norm", "norm"), [(False, "layer"), (True, "rms"), (True, "none")])
def test_every_depth_is_pooled_from_the_runs_of_each_sentence(final_norm: bool, norm: str, causal: bool) -> None:
    config = ModelConfig(**FIELDS, norm=norm, final_norm=final_norm, norm_placement="pre")  # type: ignore[arg-type]
    encoder = scramble(Encoder(config, seed=5))
    changes = [[], [Change("off", 1, None, ("attn",))], []]
    depths = read_depths(encoder, BATCH, causal=causal, interventions=changes)
    points = ["embed.out", "layers.0.out", "layers.1.out", *["final"] * (final_norm and norm != "none")]
    assert {len(each) for each in depths.pooled.values()} == {len(points)}
    runs = [run(encoder, BATCH, i, causal=causal, interventions=changes[i]) for i in range(3)]
    for i, each in enumerate(runs):
        assert depths.tokens[i] == each.tokens
        np.testing.assert_array_equal(depths.padding[i], each.padding)
        # A batch's products are added up in another order than a single sentence's; the largest numbers are about 30.
        np.testing.assert_allclose(depths.final[i], each.arrays["final"], rtol=1e-4, atol=1e-4)
        for depth, point in enumerate(points):
            expected = each.arrays[point][~each.padding].astype(np.float64).mean(axis=0)
            np.testing.assert_allclose(depths.pooled["mean"][depth, i], expected, rtol=1e-4, atol=1e-4)
        for pooling in POOLINGS:
            vector = sentence_vector(each, pooling)
            np.testing.assert_allclose(depths.pooled[pooling][-1, i], vector, rtol=1e-4, atol=1e-4)
    assert depths.n_tokens == [5, 5, 17]
    assert depths.is_finite


MATRIX = np.array([[1, 0.2, 0.9], [0.2, 1, 0.2], [0.9, 0.2, 1]], np.float32)


def test_pairs_are_ranked_and_equal_ones_stay_in_their_order() -> None:
    pairs = rank_pairs(MATRIX)
    assert [(pair.first, pair.second) for pair in pairs] == [(0, 2), (0, 1), (1, 2)]
    assert pairs[0] == Pair(0, 2, float(np.float32(0.9)))
    assert rank_pairs(MATRIX[:1, :1]) == []
    noise = np.array([[0, 1 - 2e-7, 0.5], [0, 0, 1], [0, 0, 0]], np.float32)
    assert [(pair.first, pair.second) for pair in rank_pairs(noise)] == [(0, 1), (1, 2), (0, 2)]


def test_tokens_in_common_are_counted_once_and_special_ones_never() -> None:
    sentences = ["the dog bit the man", "the man bit the dog", "the cat", "x"]
    expected = np.array([[1, 1, 1 / 5, 0], [1, 1, 1 / 5, 0], [1 / 5, 1 / 5, 1, 0], [0, 0, 0, 1]])
    np.testing.assert_allclose(common_tokens(words(sentences).encode_batch(sentences)), expected)
    _, wordpiece = checkpoint.load("minilm")
    np.testing.assert_allclose(common_tokens(wordpiece.encode_batch(sentences)), expected)
    marked = ["It rains.", "The sun shines.", "it, rains!", "..."]
    shared = common_tokens(wordpiece.encode_batch(marked))
    np.testing.assert_allclose(shared[0], [1, 0, 1, 0])
    assert not shared[3].any()
    empty = wordpiece.encode_batch(["\u200b", "\u200b"])
    assert not common_tokens(empty).any()


FILMS = ["The film was good.", "The film was not good.", "I enjoyed the movie, which was long."]


@pytest.mark.parametrize("pooling", POOLINGS)
def test_the_trained_models_contributions_add_up_to_its_cosines(pooling: Pooling) -> None:
    encoder, tokenizer = checkpoint.load("minilm")
    depths = read_depths(encoder, tokenizer.encode_batch(FILMS))
    similarity = depths.similarity(pooling)
    for i in range(3):
        for j in range(3):
            first, second = ((depths.final[side], depths.padding[side]) for side in (i, j))
            parts = token_contributions(first, second, pooling)
            assert parts.sum() == pytest.approx(float(similarity[i, j]), abs=1e-5)
        weighted = token_weights(depths.padding[i], pooling) @ depths.final[i]
        np.testing.assert_allclose(weighted, depths.pooled[pooling][-1, i], atol=1e-6)


LIST = ["The film wasn't unbearably good.", "I enjoyed it.", "It is the longest of all these sentences, by far."]
SHORTER = ["film wasn't unbearably good.", "The wasn't unbearably good.", "The film unbearably good.",
           "The film wasn't good.", "The film wasn't unbearably .", "The film wasn't unbearably good"]  # fmt: skip


def cosine(one: np.ndarray, other: np.ndarray) -> float:
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


def check(encoder: Encoder, tokenizer: Tokenizer, pooling: Pooling, causal: bool) -> None:
    batch = tokenizer.encode_batch(LIST)
    other = read_depths(encoder, batch, causal=causal).pooled[pooling][-1, 1]
    found = leave_words_out(encoder, tokenizer, batch, 0, other, pooling, causal=causal)
    assert [word for word, *_ in found] == ["The", "film", "wasn't", "unbearably", "good", "."]
    for word, place, _ in found:
        piece = batch.tokens[0][place or 0].removeprefix("##")
        assert word.lower().startswith(piece.lower())
    for text, (*_, similarity) in zip(SHORTER, found, strict=True):
        beside = tokenizer.encode_batch([text, LIST[2]])  # the longest pads it as the list does
        assert beside.ids.shape == (2, batch.ids.shape[1])
        vector = sentence_vector(run(encoder, beside, 0, causal=causal), pooling)
        assert similarity == pytest.approx(cosine(vector, other), abs=2e-5)


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("causal", [False, True])
def test_every_shorter_text_is_run_anew_with_all_tokens_of_its_word_gone(pooling: Pooling, causal: bool) -> None:
    if (pooling, causal) == ("mean", False):  # the trained one is slow
        check(*checkpoint.load("minilm"), pooling, causal)
    config = ModelConfig(vocab_size=characters().vocab_size, d_model=16, n_heads=4, n_layers=2, d_ff=32, max_len=64)
    check(scramble(Encoder(config, seed=4)), characters(), pooling, causal)


def test_a_single_word_is_not_left_out_and_too_many_are_cut_with_a_count(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder, tokenizer = checkpoint.load("minilm")
    batch = tokenizer.encode_batch(["Snow", "It snowed all night"])
    other = np.ones(384, np.float32)
    assert leave_words_out(encoder, tokenizer, batch, 0, other, "mean") == []
    monkeypatch.setattr(sentences, "can_afford", lambda config, n_tokens, n: n <= 3)
    found = leave_words_out(encoder, tokenizer, batch, 1, other, "mean")
    assert [word for word, *_ in found] == ["It", "snowed", "all"]


def test_of_a_sentence_that_was_cut_the_kept_words_alone_are_left_out() -> None:
    encoder, tokenizer = checkpoint.load("minilm")
    batch: Batch = tokenizer.encode_batch(["one two three four five"], max_tokens=5)
    found = leave_words_out(encoder, tokenizer, batch, 0, np.ones(384, np.float32), "mean")
    assert [each[:2] for each in found] == [("one", 1), ("two", 2), ("three", 3)]


SENTENCE = "The doctor didn't cross the street because he was tired."


def encode_words(sentences: Sequence[str]) -> Batch:
    return build_tokenizer("word", 0, tuple(sentences)).encode_batch(list(sentences))


ENCODERS: dict[str, Encode] = {
    "char": characters().encode_batch,
    "bpe": build_tokenizer("bpe", 600, (SENTENCE,)).encode_batch,
    "word": encode_words,
    "wordpiece": lambda sentences: checkpoint.load("minilm")[1].encode_batch(sentences),
}


@pytest.mark.parametrize("name", ENCODERS)
def test_a_copy_differs_in_the_chosen_word_alone_and_has_as_many_tokens(name: str) -> None:
    encode = ENCODERS[name]
    batch = encode([SENTENCE])
    n_found = 0
    for token in range(len(batch.offsets[0])):
        found = corrupt_word(encode, batch, 0, token)
        if found is None:
            continue
        n_found += 1
        both = encode([SENTENCE, found[0]])
        assert find_partners(both, 0) == [1]
        assert changed_tokens(both, 0, 1)[0] == found[1]
        words = [re.findall(r"\w+|\W", text) for text in both.sentences]
        assert len(words[0]) == len(words[1])
        assert sum(one != two for one, two in zip(*words, strict=True)) == 1
    assert n_found >= len(batch.offsets[0]) / 2


def test_contrasts_come_first_and_keep_their_capitals() -> None:
    encode = ENCODERS["wordpiece"]
    batch = encode(["He saw the doctor", "Doctor Who"])
    changed = [corrupt_word(encode, batch, *place) for place in ((0, 1), (0, 4), (1, 1))]
    assert [found and found[0] for found in changed] == ["She saw the doctor", "He saw the nurse", "Nurse Who"]


def test_words_of_a_kind_are_others_than_those_of_the_text() -> None:
    assert list_alike("animal", "An animal saw a dog.")[0] == "cat"
    assert "book" in list_alike("zyzzyva", "A zyzzyva.")


def test_special_tokens_and_sentences_that_are_cut_have_no_copy() -> None:
    encode = ENCODERS["wordpiece"]
    batch = encode([SENTENCE])
    assert corrupt_word(encode, batch, 0, 0) is None
    cut = checkpoint.load("minilm")[1].encode_batch([SENTENCE], 5)
    assert corrupt_word(encode, cut, 0, 2) is None


@pytest.mark.parametrize(
    ("text", "n_sentences", "expected"),
    [("a", 1, "a\nb\nc"), ("a\n\n", 1, "a\nb\nc"), ("", 0, "b\nc"), ("a", 7, None), ("a" * 2_000, 1, None)],
)
def test_sentences_are_appended_where_there_is_room(text: str, n_sentences: int, expected: str | None) -> None:
    assert append_sentences(text, n_sentences, ["b", "c"]) == expected


def test_a_words_vectors_in_several_sentences_are_compared_at_every_depth_as_by_hand() -> None:
    texts = ["a cat sat", "two dogs", "Cat, a cat"]
    batch, encoder = characters().encode_batch(texts), scramble(Encoder(ModelConfig(**FIELDS), seed=5))  # type: ignore[arg-type]
    found = find_repeated_words(batch)
    assert found == {"a": {0: [0], 2: [5]}, "cat": {0: [2, 3, 4], 2: [0, 1, 2]}}
    cosines, baseline = compare_word_by_depth(encoder, batch, found["cat"])
    runs = [run(encoder, batch, i) for i in (0, 2)]
    for depth, point in enumerate(("embed.out", "layers.0.out", "layers.1.out")):
        one, two = (torch.from_numpy(each.arrays[point].copy()) for each in runs)
        first = one[2:5].mean(0)
        similar = torch.cosine_similarity(torch.cat([two[:3].mean(0)[None], two[3:10]]), first, dim=-1)
        assert cosines[depth].tolist() == pytest.approx([1, similar[0].item()], abs=1e-4)
        assert baseline[depth] == pytest.approx(similar[1:].mean().item(), abs=1e-4)
