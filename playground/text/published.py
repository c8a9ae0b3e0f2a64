"""A stranger's `tokenizer.json`: checked against `tokenizer_parts.yaml` before the library `tokenizers` reads it.

That library does whatever a file asks for: templates that repeat the text, replacements that grow, tables of gigabytes.
"""

import base64
import binascii
import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import tokenizers
from tokenizers.implementations.bert_wordpiece import BertWordPieceTokenizer

from playground.errors import InputError
from playground.text.data import read_table
from playground.text.foreign_json import read_json, try_apart
from playground.text.tokenizer import (
    BYTE_OF_CHARACTER,
    LibraryTokenizer,
    Tokenizer,
    backend_errors,
    visible,
    visible_bytes,
)
from playground.text.wording import quote_text

MAX_TOKENIZER_BYTES = 20_000_000
"""The largest of the usual ones have 17 MB."""

MAX_VOCABULARY = 300_000
"""mT5 has 250,112."""

_MAX_VALUES = 9 * MAX_VOCABULARY
"""Of JSON."""

_MAX_PARTS = 16
"""Of a sequence of normalizers, of a template, …"""

_LONGEST_REPLACED = 64
"""Bytes in the place of one character; Unicode asks for 33."""

_PROBLEM = "no tokenizer can be read from it"

_KINDS = {"WordPiece": "wordpiece", "BPE": "bpe", "Unigram": "unigram", "WordLevel": "word"}
"""Models, and our names."""

_QUICK_PATTERNS = (" {2,}", r"\s+", "\n", r"[\s\S]")
"""Of linear time."""

Check: TypeAlias = Callable[[Any], bool]


def _is_id(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2 * MAX_VOCABULARY


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= 1_000


def _is_score(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < 1e9  # NaN is not


def _is_list(check: Check, most: int = _MAX_PARTS) -> Check:
    return lambda value: isinstance(value, list) and len(value) <= most and all(map(check, value))


def _is_dict(check: Check, most: int = _MAX_PARTS) -> Check:
    return lambda value: (
        isinstance(value, dict) and len(value) <= most and all(map(_is_word, value)) and all(map(check, value.values()))
    )


def _has(**checks: Check) -> Check:
    return lambda value: (
        isinstance(value, dict) and all(name in checks and checks[name](each) for name, each in value.items())
    )


def _is_pair(first: Check, second: Check) -> Check:
    return lambda value: isinstance(value, list) and len(value) == 2 and first(value[0]) and second(value[1])


def _is_pattern(value: Any) -> bool:
    return isinstance(value, dict) and (
        value.get("Regex") in _QUICK_PATTERNS or (value.keys() == {"String"} and _is_word(value["String"]))
    )


def _is_table_of_characters(value: Any) -> bool:
    """SentencePiece's: the size of a trie, the trie, and the texts that it points at."""
    try:
        data = base64.b64decode(value or "", validate=True)
    except (TypeError, binascii.Error):
        return False
    size = int.from_bytes(data[:4], "little")
    fits = 4 <= size <= len(data) - 4 and size % 4 == 0
    return fits and max(map(len, data[4 + size :].split(b"\0"))) <= _LONGEST_REPLACED


def _is_template(value: Any) -> bool:
    """Each text comes once."""
    place = _has(id=_is_word, type_id=_is_id)
    if not _is_list(_has(SpecialToken=place, Sequence=place))(value):
        return False
    texts = [piece["Sequence"].get("id") for piece in value if "Sequence" in piece]
    return len(set(texts)) == len(texts)


_CHECKS: dict[str, Check] = {
    "flag": lambda value: value is None or isinstance(value, bool),
    "word": _is_word,
    "word or none": lambda value: value is None or _is_word(value),
    "mark": lambda value: value is None or (isinstance(value, str) and len(value) <= 8),
    "id or none": lambda value: value is None or _is_id(value),
    "length": lambda value: _is_id(value) and value <= 1_000,
    "nothing": lambda value: value is None,
    "pattern": _is_pattern,
    "table of characters": _is_table_of_characters,
    "template": _is_template,
    "end": _is_pair(_is_word, _is_id),
    "special tokens": _is_dict(_has(id=_is_word, ids=_is_list(_is_id, 4), tokens=_is_list(_is_word, 4))),
    "vocabulary": _is_dict(_is_id, MAX_VOCABULARY),
    "scored words": _is_list(_is_pair(_is_word, _is_score), MAX_VOCABULARY),
    "merges": _is_list(lambda each: _is_word(each) or _is_pair(_is_word, _is_word)(each), 2 * MAX_VOCABULARY),
}
_PARTS = read_table(Path(__file__).with_name("tokenizer_parts.yaml"))
_ADDED_FLAGS = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), _CHECKS["flag"])
_ADDED = _is_list(_has(id=_is_id, content=lambda value: _is_word(value) and value != "", **_ADDED_FLAGS), 5_000)

_GROWING = ("Precompiled", "Prepend", "NFKC", "NFKD")
"""They lengthen a text: each once."""


def published_tokenizer(content: bytes, *, is_known: bool = False) -> Tokenizer:
    """Read the trained tokenizer of a `tokenizer.json`: WordPiece, BPE, Unigram or whole words.

    A file that is not known by its hash is tried in a process of its own first, with limits.

    Raises:
        InputError: it is no tokenizer, or asks for something that the table does not list.
    """
    try:
        if len(content) > MAX_TOKENIZER_BYTES:
            raise InputError(f"it has more than {MAX_TOKENIZER_BYTES // 1_000_000} MB")
        given = json.loads(content) if is_known else read_json(content, _MAX_VALUES)
        text = json.dumps(_check(given))
        if not is_known:
            try_apart("tokenizer", data=text.encode())
    except ValueError as error:
        raise InputError(f"{_PROBLEM}: {error}") from error
    with backend_errors(_PROBLEM):
        backend = tokenizers.Tokenizer.from_str(text)
    is_of_bytes = '"ByteLevel"' in text
    tokenizer = LibraryTokenizer(_KINDS[given["model"]["type"]], backend, _visible_if_bytes if is_of_bytes else visible)
    tokenizer.vocab_size = max(backend.get_vocab().values(), default=-1) + 1  # ids may have gaps
    return tokenizer


_WORDPIECE = ("BertTokenizer", "DistilBertTokenizer", "ElectraTokenizer")


def describe_wordpiece(vocabulary: bytes, settings: Mapping[str, Any]) -> bytes:
    """Return the `tokenizer.json` of a BERT (Devlin et al. 2019) that has a vocab.txt instead.

    `settings` are the entries of its config.json and tokenizer_config.json. InputError if the words are not BERT's.
    """
    kind = settings.get("tokenizer_class") or _WORDPIECE[0]
    if str(kind).removesuffix("Fast") not in _WORDPIECE:
        raise InputError(f"it belongs to a {quote_text(str(kind), longest=40)}, which works otherwise than BERT's")
    text = vocabulary.decode(errors="replace").replace("\r\n", "\n").removesuffix("\n")
    ids = {word: token_id for token_id, word in enumerate(text.split("\n"))}
    missing = [word for word in ("[UNK]", "[CLS]", "[SEP]") if word not in ids]
    if missing or len(ids) > MAX_VOCABULARY:
        raise InputError(f"it has {len(ids):,} words and no {missing[0]}" if missing else f"it has {len(ids):,} words")
    accents = settings.get("strip_accents")
    backend = BertWordPieceTokenizer(
        ids,
        handle_chinese_chars=bool(settings.get("tokenize_chinese_chars", True)),
        strip_accents=None if accents is None else bool(accents),
        lowercase=bool(settings.get("do_lower_case", True)),
    )
    return str(backend.to_str()).encode()


def _check(given: Any) -> dict[str, Any]:
    """Return a tokenizer's description without what nothing here uses: decoder, padding, truncation."""
    if not isinstance(given, dict) or not isinstance(given.get("model"), dict):
        raise InputError("it describes no model")
    if not _ADDED(given.get("added_tokens", [])):
        raise InputError("its added_tokens are too many, or cannot be read here")
    parts = {name: given.get(name) for name in _PARTS}
    for name, part in parts.items():
        if part is not None:
            _check_part(name, part)
    return {"version": "1.0", "added_tokens": given.get("added_tokens", []), **parts}


def _check_part(name: str, part: Any) -> None:
    """Raise InputError for the first entry that is not in the table."""
    steps: Any = [part]
    if isinstance(part, dict) and part.get("type") == "Sequence":
        rest = [each for key, each in part.items() if key != "type"]
        steps = rest[0] if len(rest) == 1 else None
    if not isinstance(steps, list) or len(steps) > _MAX_PARTS:
        raise InputError(f"its {name} has no steps, or more than {_MAX_PARTS}")
    for step in steps:
        kind = step.get("type") if isinstance(step, dict) else None
        if not isinstance(kind, str) or kind not in _PARTS[name]:
            raise InputError(f"its {name} {quote_text(str(kind), longest=40)} is none of {', '.join(_PARTS[name])}")
        works = _PARTS[name][kind]
        for key, value in step.items():
            if key != "type" and not (key in works and _is_allowed(works[key], value)):
                raise InputError(f"{quote_text(key, longest=40)} of its {name} {kind} can't be read here")
        if kind == "Replace" and len(step.get("content", "")) > len(step.get("pattern", {}).get("String", " ")):
            raise InputError(f"its {name} Replace makes the text longer")
    growing = Counter(step["type"] for step in steps if step["type"] in _GROWING)
    if max(growing.values(), default=0) > 1:
        raise InputError(f"a {name} that makes the text longer is there twice")


def _is_allowed(works: str | list[str], value: Any) -> bool:
    return value is None or value in works if isinstance(works, list) else _CHECKS[works](value)


def _visible_if_bytes(piece: str) -> str:
    return visible_bytes(piece) if all(map(BYTE_OF_CHARACTER.__contains__, piece)) else visible(piece)
