"""A sentence without each of its words: as if each shorter text had been typed."""

import numpy as np
import pytest

from playground import Encoder, ModelConfig
from playground.analysis import sentences
from playground.analysis.sentences import kept_text, leave_words_out, read_depths
from playground.analysis.vector_changes import POOLINGS, Pooling, sentence_vector
from playground.model.changes import Change
from playground.runs import run
from playground.text import Batch, Tokenizer, characters, words
from playground.weights.checkpoint import load
from tests.model.reference import scramble

SENTENCES = ["The film wasn't unbearably good.", "I enjoyed it.", "It is the longest of all these sentences, by far."]
SHORTER = ["film wasn't unbearably good.", "The wasn't unbearably good.", "The film unbearably good.",
           "The film wasn't good.", "The film wasn't unbearably .", "The film wasn't unbearably good"]  # fmt: skip


def cosine(one: np.ndarray, other: np.ndarray) -> float:
    return float(one @ other / np.linalg.norm(one) / np.linalg.norm(other))


def check(encoder: Encoder, tokenizer: Tokenizer, pooling: Pooling, causal: bool) -> None:
    batch = tokenizer.encode_batch(SENTENCES)
    other = read_depths(encoder, batch, causal=causal).pooled[pooling][-1, 1]
    found = leave_words_out(encoder, tokenizer, batch, 0, other, pooling, causal=causal)
    assert found.words == ("The", "film", "wasn't", "unbearably", "good", ".")
    assert found.n_skipped == 0
    for word, place in zip(found.words, found.places, strict=True):
        piece = batch.tokens[0][place or 0].removeprefix("##")
        assert word.lower().startswith(piece.lower())
    assert len(set(found.places)) == len(found.places)
    for text, similarity in zip(SHORTER, found.similarities, strict=True):
        beside = tokenizer.encode_batch([text, SENTENCES[2]])  # the longest pads it as the list does
        assert beside.ids.shape == (2, batch.ids.shape[1])
        vector = sentence_vector(run(encoder, beside, 0, causal=causal), pooling)
        assert similarity == pytest.approx(cosine(vector, other), abs=2e-5)


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("causal", [False, True])
def test_every_shorter_text_is_run_anew_with_all_tokens_of_its_word_gone(pooling: Pooling, causal: bool) -> None:
    check(*load("minilm"), pooling, causal)
    config = ModelConfig(vocab_size=characters().vocab_size, d_model=16, n_heads=4, n_layers=2, d_ff=32, max_len=64)
    check(scramble(Encoder(config, seed=4)), characters(), pooling, causal)


def test_a_tokenizer_of_the_lists_own_words_reads_every_shorter_text() -> None:
    sentences = ["(cat),dog: x", "a b"]
    tokenizer = words(sentences)
    encoder = Encoder(ModelConfig(vocab_size=0, d_model=16, n_heads=4, n_layers=1, d_ff=8, max_len=16), seed=1)
    batch = tokenizer.encode_batch(sentences)
    found = leave_words_out(encoder, tokenizer, batch, 0, np.ones(16, np.float32), "mean", seed=3)
    assert found.words == ("(", "cat),dog", ":", "x")
    assert np.isfinite(found.similarities).all()


def test_a_single_word_is_not_left_out_and_too_many_are_cut_with_a_count(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder, tokenizer = load("minilm")
    batch = tokenizer.encode_batch(["Snow", "It snowed all night"])
    other = np.ones(384, np.float32)
    assert leave_words_out(encoder, tokenizer, batch, 0, other, "mean").words == ()
    monkeypatch.setattr(sentences, "can_afford", lambda config, n_tokens, n: n <= 3)
    found = leave_words_out(encoder, tokenizer, batch, 1, other, "mean")
    assert (found.words, found.n_skipped) == (("It", "snowed", "all"), 1)


def test_a_word_without_which_no_token_is_left_is_passed_over() -> None:
    class Blind(Tokenizer):
        """Makes a token of every x alone."""

        vocab_size, pad_id = characters().vocab_size, 0

        def id_to_token(self, token_id: int) -> str:
            return characters().id_to_token(token_id)

        def _encode(self, text: str, max_tokens: int):  # type: ignore[no-untyped-def]
            return characters()._encode("".join(letter for letter in text if letter == "x"), max_tokens)

    config = ModelConfig(vocab_size=Blind.vocab_size, d_model=16, n_heads=4, n_layers=1, d_ff=8, max_len=8)
    batch = Blind().encode_batch(["x y", "xx"])
    found = leave_words_out(Encoder(config, seed=0), Blind(), batch, 0, np.ones(16, np.float32), "mean")
    assert (found.words, found.places) == (("y",), (None,))


def test_of_a_sentence_that_was_cut_the_kept_words_alone_are_left_out() -> None:
    encoder, tokenizer = load("minilm")
    batch: Batch = tokenizer.encode_batch(["one two three four five"], max_tokens=5)
    assert kept_text(batch, 0) == "one two three"
    found = leave_words_out(encoder, tokenizer, batch, 0, np.ones(384, np.float32), "mean")
    assert (found.words, found.places) == (("one", "two", "three"), (1, 2, 3))


def test_interventions_change_every_shorter_run() -> None:
    encoder, tokenizer = load("minilm")
    batch = tokenizer.encode_batch(["one two", "three"])
    other = np.ones(384, np.float32)
    change = Change("off", 3, None, ("attn",))
    found = leave_words_out(encoder, tokenizer, batch, 0, other, "mean", interventions=[change])
    beside = tokenizer.encode_batch(["two", "one two"])
    vector = sentence_vector(run(encoder, beside, 0, interventions=[change]))
    assert found.similarities[0] == pytest.approx(cosine(vector, other), abs=1e-5)
