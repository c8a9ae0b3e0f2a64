"""A stranger's vocabulary file into ids by word: checked before it is believed."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from playground.errors import InputError
from playground.text.sentences import LINE_BREAK, replace_surrogates
from playground.text.wording import quote_word

MAX_VOCABULARY_BYTES = 2 * 2**20
"""Of one file: twice GPT-2's."""

MAX_WORDS = 100_000
"""Of one file; GPT-2's has 50,257."""

_JSON = re.compile(r'\s*(\{|\[\s*")')


def read_vocabulary(data: bytes, n_rows: int) -> dict[str, int]:
    """Read the id of each word: from one word a line, from 0 on, or from JSON, a dictionary of ids or a list of words.

    Args:
        data: the file.
        n_rows: of the token table that the ids point into.

    Raises:
        InputError: the file is too large, no text, or damaged; or a word or an id is there twice, or fits no row.
    """
    if len(data) > MAX_VOCABULARY_BYTES:
        raise InputError(
            f"It has {len(data) / 2**20:,.1f} MB; a vocabulary may have {MAX_VOCABULARY_BYTES // 2**20} MB."
        )
    text = _decode(data).rstrip("\r\n")
    if not text.strip():
        raise InputError("There is no word in it.")
    ids = _read_json(text) if _JSON.match(text) else _number_words(_read_lines(text))
    if len(ids) > MAX_WORDS:
        raise InputError(f"It has {len(ids):,} words; at most {MAX_WORDS:,} can be read.")
    _check_ids(ids, n_rows)
    return ids


def _decode(data: bytes) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:  # which UTF-16 has beside every letter
        raise InputError('It is no UTF-8 text: write it with `open(…, "w", encoding="utf-8")`.')
    return text


def _read_lines(text: str) -> list[str]:
    words = [line.strip() for line in LINE_BREAK.split(text)]
    for number, word in enumerate(words, start=1):
        if not word:
            raise InputError(f"Line {number:,} is empty; JSON can hold a blank as a token.")
        if len(word.split()) > 1:
            raise InputError(f"Line {number:,}, {quote_word(word)}, has a blank inside: write one word a line.")
    return words


def _read_json(text: str) -> dict[str, int]:
    try:
        found = json.loads(text, object_pairs_hook=_unique_words)
    except InputError:
        raise
    except (ValueError, RecursionError) as error:
        raise InputError(
            "It begins like JSON, and is not valid JSON: `json.dump(word_to_id, file)` writes it."
        ) from error
    if isinstance(found, list) and all(isinstance(word, str) for word in found):
        return _number_words([replace_surrogates(word) for word in found])
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


def _number_words(words: Sequence[str]) -> dict[str, int]:
    return _unique_words([(word, number) for number, word in enumerate(words)])


def _check_ids(ids: Mapping[str, Any], n_rows: int) -> None:
    words: dict[int, str] = {}
    for word, token_id in ids.items():
        if isinstance(token_id, bool) or not isinstance(token_id, int):
            raise InputError(
                f"The word {quote_word(word)} has {quote_word(str(token_id))} for an id: ids are whole numbers."
            )
        if not 0 <= token_id < n_rows:
            number = f"{token_id:,}" if abs(token_id) < 10**12 else "a huge number"
            raise InputError(
                f"The word {quote_word(word)} has the id {number}; your file's token table has {n_rows:,} rows, "
                f"0 to {n_rows - 1:,}."
            )
        if token_id in words:
            raise InputError(
                f"The words {quote_word(words[token_id])} and {quote_word(word)} have the same id, {token_id:,}."
            )
        words[token_id] = word
