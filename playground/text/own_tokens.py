"""Tokenizers for somebody's own model: words of a vocabulary file, and ids typed as numbers."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from playground.errors import InputError
from playground.text.sentences import LINE_BREAK, replace_surrogates
from playground.text.tokenizer import EncodedSentence, Tokenizer, visible
from playground.text.wording import join_words, quote_word

UNKNOWN_NAMES = ("[UNK]", "<unk>", "<UNK>", "[unk]", "<oov>", "<OOV>", "UNK", "unk")
"""Of the token that stands for other words; the first in a vocabulary counts."""

PAD_NAMES = ("[PAD]", "<pad>", "<PAD>", "[pad]")

MAX_VOCABULARY_BYTES = 2 * 2**20
"""Twice GPT-2's."""

MAX_WORDS = 100_000
"""GPT-2 has 50,257."""

_PIECE, _PART = re.compile(r"\S+"), re.compile(r"\w+|[^\w\s]")
_ID = re.compile(r"[^\s,;()\[\]]+")

_NAMED = 5
"""Words that a sentence names at most."""


class VocabularyTokenizer(Tokenizer):
    """Words → the ids of a vocabulary; cut at blanks and marks, or after each character if the blank is a token."""

    def __init__(self, ids: Mapping[str, int]) -> None:
        self.name = "vocabulary"
        self.vocab_size = max(ids.values()) + 1
        self.pad_id = next((ids[name] for name in PAD_NAMES if name in ids), 0)
        self.unknown = next((name for name in UNKNOWN_NAMES if name in ids), None)
        self.of_characters = " " in ids
        self.ids = ids
        self._words = {token_id: word for word, token_id in ids.items()}

    def id_to_token(self, token_id: int) -> str:
        """Return the word, or the id if no word has it."""
        self._check_id(token_id)
        return visible(self._words.get(token_id, str(token_id)))

    def _encode(self, text: str, max_tokens: int) -> EncodedSentence:
        places = self._cut(text)
        words = [text[start:end] for start, end in places[:max_tokens]]
        strange = [word for word in words if word not in self.ids]
        if strange and self.unknown is None:
            named = [quote_word(word) for word in dict.fromkeys(strange)]
            more = [f"{len(named) - _NAMED} more"] if len(named) > _NAMED else []
            raise InputError(
                f"Your vocabulary lacks {join_words([*named[:_NAMED], *more])}, and it has no [UNK] or <unk> to read "
                "instead: write words that it has."
            )
        known = [word if word in self.ids else str(self.unknown) for word in words]
        ids = [self.ids[word] for word in known]
        return _encoded(ids, [visible(word) for word in known], places, [word == self.unknown for word in known])

    def _cut(self, text: str) -> list[tuple[int, int]]:
        if self.of_characters:
            return [(i, i + 1) for i in range(len(text))]
        places = []
        for piece in _PIECE.finditer(text):
            is_word = piece[0] in self.ids
            places += [piece.span()] if is_word else [part.span() for part in _PART.finditer(text, *piece.span())]
        return places


class IdTokenizer(Tokenizer):
    """Ids from 0 to `n_ids` - 1, typed as numbers between blanks, commas or brackets."""

    def __init__(self, n_ids: int) -> None:
        self.name = "ids"
        self.vocab_size = n_ids
        self.pad_id = 0

    def id_to_token(self, token_id: int) -> str:
        """Return the id itself."""
        self._check_id(token_id)
        return str(token_id)

    def _encode(self, text: str, max_tokens: int) -> EncodedSentence:
        pieces = list(_ID.finditer(text))
        if not pieces:
            raise InputError(f"{quote_word(text)} holds no id: write whole numbers, such as 0 1 2.")
        for piece in pieces:
            if not re.fullmatch("[0-9]+", piece[0]) or int(piece[0]) >= self.vocab_size:
                raise InputError(
                    f"{quote_word(piece[0])} is no id of your file's token table: write whole numbers from 0 to "
                    f"{self.vocab_size - 1:,}, with blanks between them."
                )
        ids = [int(piece[0]) for piece in pieces[:max_tokens]]
        return _encoded(ids, list(map(str, ids)), [piece.span() for piece in pieces], [False] * len(ids))


def _encoded(ids: list[int], tokens: list[str], places: list[tuple[int, int]], unknown: list[bool]) -> EncodedSentence:
    n = len(ids)
    return EncodedSentence(ids, tokens, places[:n], [False] * n, unknown, truncated=len(places) - n)


def read_vocabulary(data: bytes, n_rows: int) -> dict[str, int]:
    """Read the id of each word: one word a line, or JSON, a dictionary of ids or a list of words.

    Raises:
        InputError: the file is too large, no text, or damaged; or a word or an id is there twice, or fits none of
        `n_rows`.
    """
    if len(data) > MAX_VOCABULARY_BYTES:
        raise InputError(f"A vocabulary may have {MAX_VOCABULARY_BYTES // 2**20} MB.")
    text = data.decode("utf-8-sig", errors="replace").rstrip("\r\n")
    if "\0" in text or "\ufffd" in text:  # UTF-16 has NUL beside every letter
        raise InputError('It is no UTF-8 text: write it with `open(…, "w", encoding="utf-8")`.')
    if not text.strip():
        raise InputError("There is no word in it.")
    ids = _read_json(text) if re.match(r'\s*(\{|\[\s*")', text) else _read_lines(text)
    if len(ids) > MAX_WORDS:
        raise InputError(f"It has {len(ids):,} words; at most {MAX_WORDS:,} can be read.")
    words: dict[int, str] = {}
    for word, token_id in ids.items():
        if type(token_id) is not int or not 0 <= token_id < n_rows:
            raise InputError(
                f"The word {quote_word(word)} has {quote_word(str(token_id))} for an id: your file's token table has "
                f"the rows 0 to {n_rows - 1:,}."
            )
        if token_id in words:
            raise InputError(f"{quote_word(words[token_id])} and {quote_word(word)} have the same id, {token_id:,}.")
        words[token_id] = word
    return ids


def _read_lines(text: str) -> dict[str, int]:
    words = [line.strip() for line in LINE_BREAK.split(text)]
    for number, word in enumerate(words, start=1):
        if len(word.split()) != 1:
            raise InputError(f"Line {number:,}, {quote_word(word)}, is not one word; JSON may hold blanks.")
    return _unique_words([(word, number) for number, word in enumerate(words)])


def _read_json(text: str) -> dict[str, int]:
    try:
        found = json.loads(text, object_pairs_hook=_unique_words)
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise InputError("It is not valid JSON: `json.dump(word_to_id, file)` writes it.") from error
    if isinstance(found, list) and all(isinstance(word, str) for word in found):
        return _unique_words([(word, number) for number, word in enumerate(found)])
    if not isinstance(found, dict) or not found:
        raise InputError("Its JSON is no dictionary from words to ids.")
    return found


def _unique_words(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    ids: dict[str, Any] = {}
    for word, token_id in pairs:
        word = replace_surrogates(word)
        if word in ids:
            raise InputError(f"The word {quote_word(word)} is there twice.")
        ids[word] = token_id
    return ids
