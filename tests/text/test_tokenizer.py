"""Every tokenizer keeps a batch's promises, whatever the text; pieces are readable; words may be vectors."""

import base64
import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import tokenizers
import torch
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import models

from playground.errors import InputError
from playground.limits import MAX_TOKENS
from playground.text import Batch, Tokenizer, bpe, characters, foreign_json, published_tokenizer, words
from playground.text.tokenizer import draw_vectors
from playground.weights.checkpoint import minilm_path


def _minilm() -> Tokenizer:
    folder = minilm_path()
    assert folder is not None, "the trained weights' package is not installed"
    return published_tokenizer((folder / "tokenizer.json").read_bytes())


MINILM = _minilm()
MAKERS: dict[str, Callable[[Sequence[str]], Tokenizer]] = {
    "wordpiece": lambda _: MINILM,
    "word": words,
    "char": lambda _: characters(),
    "bpe": lambda _: bpe(1_000),
}


def check(tokenizer: Tokenizer, batch: Batch) -> None:
    """Everything a batch promises, whatever the text."""
    assert batch.ids.dtype == torch.int64
    assert batch.mask.dtype == torch.bool
    assert batch.ids.shape == batch.mask.shape == (len(batch.sentences), max(map(len, batch.tokens), default=0))
    assert batch.ids.shape[1] <= MAX_TOKENS
    assert (batch.ids[~batch.mask] == tokenizer.pad_id).all()
    for row, sentence in enumerate(batch.sentences):
        tokens, offsets = batch.tokens[row], batch.offsets[row]
        assert len(tokens) == len(offsets) == len(batch.special[row]) == len(batch.unknown[row])
        assert batch.mask[row].tolist() == [True] * len(tokens) + [False] * (batch.ids.shape[1] - len(tokens))
        assert all(0 <= start <= end <= len(sentence) for start, end in offsets)
        ids = batch.ids[row, : len(tokens)].tolist()
        assert all(0 <= token_id < tokenizer.vocab_size for token_id in ids)
        assert [tokenizer.id_to_token(token_id) for token_id in ids] == tokens
        assert batch.truncated[row] >= 0


@pytest.mark.parametrize("name", MAKERS)
@given(texts=st.lists(st.text(st.characters(), max_size=60) | st.just("[CLS] [PAD] <b>אa\u0301 👩‍👩‍👧"), max_size=4))
def test_any_text_keeps_a_batchs_promises(name: str, texts: list[str]) -> None:
    tokenizer = MAKERS[name](texts)
    assert tokenizer.name == name
    check(tokenizer, tokenizer.encode_batch(texts))


def test_wordpiece_reads_as_the_trained_model_does() -> None:
    batch = MINILM.encode_batch(["Unbelievable 🙂!", "No"])
    assert batch.tokens == [["[CLS]", "unbelievable", "[UNK]", "!", "[SEP]"], ["[CLS]", "no", "[SEP]"]]
    assert batch.special == [[True, False, False, False, True], [True, False, True]]
    assert batch.unknown == [[False, False, True, False, False], [False] * 3]
    assert batch.offsets[0] == [(0, 0), (0, 12), (13, 14), (14, 15), (0, 0)]
    assert batch.ids[1].tolist() == [101, 2053, 102, 0, 0]
    assert MINILM.vocab_size == 30_522


def test_truncation_keeps_the_closing_token_and_counts_what_it_cut() -> None:
    batch = MINILM.encode_batch(["a " * 300, "a " * 254, "a"], MAX_TOKENS)
    assert batch.ids.shape == (3, MAX_TOKENS)
    assert batch.truncated == [300 + 2 - MAX_TOKENS, 0, 0]
    assert (batch.tokens[0][0], batch.tokens[0][-1]) == ("[CLS]", "[SEP]")
    short = MINILM.encode_batch(["one two three four"], max_tokens=3)
    assert (short.tokens, short.truncated) == ([["[CLS]", "one", "[SEP]"]], [3])
    bare = characters().encode_batch(["x" * 2_000], MAX_TOKENS)
    assert (int(bare.mask.sum()), bare.truncated) == (MAX_TOKENS, [2_000 - MAX_TOKENS])
    with pytest.raises(ValueError, match="max_tokens=2"):
        MINILM.encode_batch(["a"], max_tokens=2)


def test_a_word_outside_the_vocabulary_is_an_error() -> None:
    assert words(["one two one"]).encode_batch(["two one"]).ids.tolist() == [[1, 0]]
    with pytest.raises(ValueError, match="'two'"):
        words(["one"]).encode_batch(["two"])


def test_characters_have_the_same_ids_whatever_the_text() -> None:
    tokenizer = characters()
    assert tokenizer.vocab_size == 97
    assert [tokenizer.id_to_token(index) for index in (0, 1, 2, 3, 96)] == ["[PAD]", "[UNK]", "␣", "!", "~"]
    batch = tokenizer.encode_batch(["a é\n~"])
    assert batch.tokens == [["a", "␣", "[UNK]", "[UNK]", "~"]]
    assert batch.unknown == [[False, False, True, True, False]]
    assert batch.ids.tolist() == [[67, 2, 1, 1, 96]]


def test_bpe_pieces_are_readable_and_cover_the_text() -> None:
    text = "The animal didn't cross the street"
    batch = bpe(2_000).encode_batch([text])
    assert "".join(batch.tokens[0]).replace("␣", " ") == text
    assert "␣the" in batch.tokens[0]
    assert not any(batch.unknown[0])
    assert bpe(300).encode_batch(["é"]).tokens == [["⟨C3⟩", "⟨A9⟩"]]


@pytest.mark.long
def test_bpe_has_the_size_asked_for_and_is_trained_alike_every_time() -> None:
    vocab_size = 1_234
    tokenizer = bpe(vocab_size)
    again = bpe.__wrapped__(vocab_size)
    assert tokenizer.vocab_size == vocab_size
    pieces = [tokenizer.id_to_token(index) for index in range(vocab_size)]
    assert pieces == [again.id_to_token(index) for index in range(vocab_size)]


def test_a_words_vector_is_the_same_on_every_machine_wherever_it_stands() -> None:
    one, other = draw_vectors(["a", "the", "a"], 4, 7), draw_vectors(["the"], 4, 7)
    assert torch.equal(one[0], one[2])
    assert torch.equal(one[1], other[0])
    torch.testing.assert_close(other[0], torch.tensor([-0.295837, 0.945925, -0.20522, 0.143648]))


# --- published tokenizers, which visitors may bring


def published(model: models.Model, **parts: Any) -> tokenizers.Tokenizer:
    backend = tokenizers.Tokenizer(model)
    for name, part in parts.items():
        setattr(backend, name, part)
    return backend


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff", b"[" * 100_000, b" " * 20_000_001, b'{"model": 3}'])
def test_what_is_no_tokenizer_is_refused(content: bytes) -> None:
    with pytest.raises(InputError, match="no tokenizer can be read from it"):
        published_tokenizer(content)


WORD_LEVEL = {"type": "WordLevel", "vocab": {"a": 0, "<unk>": 1}, "unk_token": "<unk>"}
TEXT, SPECIAL = {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "a", "type_id": 0}}
TEMPLATE = {"type": "TemplateProcessing", "pair": [], "special_tokens": {"a": {"id": "a", "ids": [0], "tokens": ["a"]}}}
DOUBLES = {"type": "Replace", "pattern": {"String": "a"}, "content": "aa"}


def described(**parts: Any) -> bytes:
    return json.dumps({"version": "1.0", "added_tokens": [], "model": WORD_LEVEL, **parts}).encode()


def charsmap(size: int, texts: bytes) -> dict[str, str]:
    data = size.to_bytes(4, "little") + bytes(8) + texts
    return {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(data).decode()}


@pytest.mark.parametrize(
    ("parts", "named"),
    [
        ({"post_processor": {**TEMPLATE, "single": [TEXT] * 60}}, "TemplateProcessing"),
        ({"post_processor": {**TEMPLATE, "single": [TEXT] + [SPECIAL] * 60}}, "TemplateProcessing"),
        ({"normalizer": {"type": "Sequence", "normalizers": [DOUBLES] * 16}}, "Replace"),
        ({"normalizer": {"type": "Sequence", "normalizers": [{"type": "Lowercase"}] * 1_000}}, "more than 16"),
        ({"normalizer": charsmap(0xFFFFFFFF, b"")}, "Precompiled"),
        ({"model": {**WORD_LEVEL, "type": "WordPiece", "max_input_chars_per_word": 10**9}}, "max_input_chars_per_word"),
        ({"model": {**WORD_LEVEL, "vocab": {"a": 10**9}}}, "vocab"),
        ({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": [], "dropout": 0.5}}, "dropout"),
        ({"model": {"type": "Unigram", "vocab": [["a", float("nan")]]}}, "vocab"),
        ({"pre_tokenizer": {"type": "Split", "pattern": {"Regex": "(a+)+$"}, "behavior": "Isolated"}}, "pattern"),
        ({"pre_tokenizer": {"type": "Python"}}, "Python"),
        ({"added_tokens": [{"id": 2, "content": "b"}] * 10_000}, "added_tokens"),
    ],
)
def test_what_a_stranger_asks_for_is_refused_by_name_before_it_is_built(
    parts: dict[str, Any], named: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokenizers, "Tokenizer", None)
    with pytest.raises(InputError, match=f"no tokenizer can be read from it.*{named}"):
        published_tokenizer(described(**parts))


def test_what_the_table_lets_through_is_tried_in_a_process_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    assert published_tokenizer(described()).encode_batch(["a"]).ids.tolist() == [[0]]
    without_unknown = {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "<unk>"}
    with pytest.raises(InputError, match=r"Missing \[UNK\] token"):
        published_tokenizer(described(model=without_unknown))
    with_a_gap = {"type": "WordLevel", "vocab": {"<unk>": 0, "a": 99}, "unk_token": "<unk>"}
    assert published_tokenizer(described(model=with_a_gap)).vocab_size == 100, "one more than the highest id"
    monkeypatch.setattr(foreign_json, "SECONDS", 0.001)
    with pytest.raises(InputError, match=r"more than 0\.001 seconds"):
        published_tokenizer(described())
