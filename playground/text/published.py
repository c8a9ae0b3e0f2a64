"""A stranger's `tokenizer.json`: checked against a table of what it may say, before the library `tokenizers` reads it.

That library does whatever a file asks for: templates that repeat the text, replacements that grow, tables that take
gigabytes. What stands in the table is bounded; whatever else a file has is refused by name.
"""

import base64
import binascii
import json
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import tokenizers

from playground.errors import InputError
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
"""Of a `tokenizer.json`; the largest of the usual ones have 17 MB."""

MAX_VOCABULARY = 300_000
"""Tokens; mT5 has 250,112."""

_MAX_VALUES = 9 * MAX_VOCABULARY
"""Of all JSON: a vocabulary of tokens with ids, and its merges, two for each token, of two pieces each."""

_MAX_PARTS = 16
"""Of a sequence of normalizers, of a template, …"""

_LONGEST_REPLACED = 64
"""Bytes of what a table of characters puts in the place of one; the longest that Unicode asks for has 33."""

_PROBLEM = "no tokenizer can be read from it"

_KINDS = {"WordPiece": "wordpiece", "BPE": "bpe", "Unigram": "unigram", "WordLevel": "word"}
"""What a published tokenizer's model is called here."""

_QUICK_PATTERNS = (" {2,}", r"\s+", "\n", r"[\s\S]")
"""Regular expressions that published tokenizers have, and that take no longer than the text is long."""

Check: TypeAlias = Callable[[Any], bool]


def _is_flag(value: Any) -> bool:
    return value is None or isinstance(value, bool)


def _is_id(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2 * MAX_VOCABULARY


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < 1e9  # NaN is not


def _is_word(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= 1_000


def _is_mark(value: Any) -> bool:
    """A prefix or a suffix of a word's pieces, or None."""
    return value is None or (isinstance(value, str) and len(value) <= 8)


def _is_one_of(*words: str) -> Check:
    return lambda value: value is None or value in words


def _is_list(check: Check, most: int = _MAX_PARTS) -> Check:
    return lambda value: isinstance(value, list) and len(value) <= most and all(map(check, value))


def _is_dict(check: Check, most: int = _MAX_PARTS) -> Check:
    return lambda value: (
        isinstance(value, dict) and len(value) <= most and all(map(_is_word, value)) and all(map(check, value.values()))
    )


def _flags(*names: str) -> dict[str, Check]:
    return dict.fromkeys(names, _is_flag)


def _has(checks: Mapping[str, Check]) -> Check:
    """A dictionary with some of these entries alone."""
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
    """SentencePiece's: how many bytes a trie has, in four bytes, the trie, and the texts that it points at."""
    try:
        data = base64.b64decode(value or "", validate=True)
    except (TypeError, binascii.Error):
        return False
    size = int.from_bytes(data[:4], "little")
    fits = 4 <= size <= len(data) - 4 and size % 4 == 0
    return fits and max(map(len, data[4 + size :].split(b"\0"))) <= _LONGEST_REPLACED


def _repeats_no_text(value: Any) -> bool:
    """A template's pieces, of which each has a text or a special token, and each text comes once."""
    place = _has({"id": _is_word, "type_id": _is_id})
    if not _is_list(_has({"SpecialToken": place, "Sequence": place}))(value):
        return False
    return max(Counter(piece["Sequence"].get("id") for piece in value if "Sequence" in piece).values(), default=0) <= 1


_BEHAVIOUR = _is_one_of("Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous")
_BYTE_LEVEL = _flags("add_prefix_space", "trim_offsets", "use_regex")
_ENDS: dict[str, Check] = dict.fromkeys(("sep", "cls"), _is_pair(_is_word, _is_id))
_VOCABULARY = {"vocab": _is_dict(_is_id, MAX_VOCABULARY), "unk_token": lambda value: value is None or _is_word(value)}
_SPECIAL = {"id": _is_word, "ids": _is_list(_is_id, 4), "tokens": _is_list(_is_word, 4)}

_PARTS: dict[str, dict[str, dict[str, Check]]] = {
    "normalizer": {
        "BertNormalizer": _flags("clean_text", "handle_chinese_chars", "strip_accents", "lowercase"),
        "Replace": {"pattern": _is_pattern, "content": _is_word},
        "Precompiled": {"precompiled_charsmap": _is_table_of_characters},
        "Strip": {"strip_left": _is_flag, "strip_right": _is_flag},
        "Prepend": {"prepend": _is_mark},
        **{name: {} for name in ("NFC", "NFD", "NFKC", "NFKD", "Nmt", "Lowercase", "StripAccents")},
    },
    "pre_tokenizer": {
        "ByteLevel": _BYTE_LEVEL,
        "Metaspace": {
            "replacement": _is_mark,
            "str_rep": _is_mark,
            "prepend_scheme": _is_one_of("always", "never", "first"),
            "add_prefix_space": _is_flag,
            "split": _is_flag,
        },
        "Split": {"pattern": _is_pattern, "behavior": _BEHAVIOUR, "invert": _is_flag},
        "Punctuation": {"behavior": _BEHAVIOUR},
        "Digits": {"individual_digits": _is_flag},
        **{name: {} for name in ("BertPreTokenizer", "Whitespace", "WhitespaceSplit", "UnicodeScripts")},
    },
    "post_processor": {
        "BertProcessing": _ENDS,
        "RobertaProcessing": {**_ENDS, "trim_offsets": _is_flag, "add_prefix_space": _is_flag},
        "TemplateProcessing": {
            "single": _repeats_no_text,
            "pair": _repeats_no_text,
            "special_tokens": _is_dict(_has(_SPECIAL)),
        },
        "ByteLevel": _BYTE_LEVEL,
    },
    "model": {
        "WordPiece": {
            **_VOCABULARY,
            "continuing_subword_prefix": _is_mark,
            "max_input_chars_per_word": lambda value: _is_id(value) and value <= 1_000,
        },
        "WordLevel": _VOCABULARY,
        "BPE": {
            **_VOCABULARY,
            "merges": _is_list(
                lambda value: _is_word(value) or _is_pair(_is_word, _is_word)(value), 2 * MAX_VOCABULARY
            ),
            "dropout": lambda value: value is None,  # it would be another text's tokens at each run
            "continuing_subword_prefix": _is_mark,
            "end_of_word_suffix": _is_mark,
            **_flags("fuse_unk", "byte_fallback", "ignore_merges"),
        },
        "Unigram": {
            "vocab": _is_list(_is_pair(_is_word, _is_number), MAX_VOCABULARY),
            "unk_id": lambda value: value is None or _is_id(value),
            "byte_fallback": _is_flag,
        },
    },
}
"""What each part of a tokenizer may be, and what each kind of it may have beside its type."""

_ADDED = _is_list(
    _has(
        {
            "id": _is_id,
            "content": lambda value: _is_word(value) and value != "",
            **_flags("single_word", "lstrip", "rstrip", "normalized", "special"),
        }
    ),
    5_000,
)

_GROWING = ("Precompiled", "Prepend", "NFKC", "NFKD")
"""Normalizers that may make a text longer: each once."""


def published_tokenizer(content: bytes, *, is_known: bool = False) -> Tokenizer:
    """The trained tokenizer that a `tokenizer.json` holds: WordPiece, BPE, Unigram or whole words.

    A file that is not known by its hash is read and tried in processes of their own first, with limits (`trial`).

    Raises:
        InputError: it is not a tokenizer's, or asks for something that is not in this module's table.
    """
    if len(content) > MAX_TOKENIZER_BYTES:
        raise InputError(f"{_PROBLEM}: it has more than {MAX_TOKENIZER_BYTES // 1_000_000} MB")
    try:
        given = json.loads(content) if is_known else read_json(content, _MAX_VALUES)
    except ValueError as error:
        raise InputError(f"{_PROBLEM}: {error}") from error
    text = json.dumps(_checked(given))
    if not is_known:
        try:
            try_apart("tokenizer", data=text.encode())
        except InputError as error:
            raise InputError(f"{_PROBLEM}: {error}") from error
    with backend_errors(_PROBLEM):
        backend = tokenizers.Tokenizer.from_str(text)
    is_of_bytes = '"ByteLevel"' in text
    tokenizer = LibraryTokenizer(_KINDS[given["model"]["type"]], backend, _visible_if_bytes if is_of_bytes else visible)
    tokenizer.vocab_size = max(backend.get_vocab().values(), default=-1) + 1  # ids may have gaps
    return tokenizer


def wordpiece_of(vocabulary: bytes) -> bytes:
    """BERT's `tokenizer.json`, from the vocab.txt of older checkpoints, which has a word piece a line.

    Text is lowered where no piece but the special ones has a capital letter.

    Raises:
        InputError: it is no text, or has no [UNK].
    """
    try:
        ids = {piece: i for i, piece in enumerate(vocabulary[:MAX_TOKENIZER_BYTES].decode().splitlines())}
    except UnicodeDecodeError as error:
        raise InputError(f"{_PROBLEM}: {error}") from error
    ends = [piece for piece in ("[CLS]", "[SEP]") if piece in ids]
    pieces = {piece: {"SpecialToken": {"id": piece, "type_id": 0}} for piece in ends}
    single = [*map(pieces.get, ends[:1]), {"Sequence": {"id": "A", "type_id": 0}}, *map(pieces.get, ends[1:])]
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    special = [piece for piece in ids if piece.startswith("[") and piece.endswith("]") and len(piece) > 2]
    lowers = all(piece == piece.lower() for piece in ids if piece not in special)
    given = {
        "version": "1.0",
        "added_tokens": [{"id": ids[piece], "content": piece, "special": True, **flags} for piece in special[:2_000]],
        "normalizer": {
            "type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None,
            "lowercase": lowers,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing", "single": single, "pair": [],
            "special_tokens": {piece: {"id": piece, "ids": [ids[piece]], "tokens": [piece]} for piece in ends},
        },
        "model": {
            "type": "WordPiece", "vocab": ids, "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
        },
    }  # fmt: skip
    return json.dumps(given).encode()


def _checked(given: Any) -> dict[str, Any]:
    """A tokenizer's description without what nothing here uses: its decoder, padding and truncation."""
    if not isinstance(given, dict) or not isinstance(given.get("model"), dict):
        raise InputError(f"{_PROBLEM}: it describes no model")
    if not _ADDED(given.get("added_tokens", [])):
        raise InputError(f"{_PROBLEM}: its added_tokens are too many, or not as this page reads them")
    parts = {name: given.get(name) for name in _PARTS}
    for name, part in parts.items():
        if part is not None:
            _check_part(name, part)
    return {"version": "1.0", "added_tokens": given.get("added_tokens", []), **parts}


def _check_part(name: str, part: Any) -> None:
    """Raise the error for the first thing that a part of a tokenizer has and that is not in the table."""
    steps: Any = [part]
    if isinstance(part, dict) and part.get("type") == "Sequence":
        steps = [each for key, each in part.items() if key != "type"]
        steps = steps[0] if len(steps) == 1 else None
        if not isinstance(steps, list) or len(steps) > _MAX_PARTS:
            raise InputError(f"{_PROBLEM}: its {name} has no steps, or more than {_MAX_PARTS}")
    for step in steps:
        kind = step.get("type") if isinstance(step, dict) else None
        if not isinstance(kind, str) or kind not in _PARTS[name]:
            raise InputError(
                f"{_PROBLEM}: its {name} {quote_text(str(kind), longest=40)} is none of {', '.join(_PARTS[name])}"
            )
        checks = _PARTS[name][kind]
        for key, value in step.items():
            if key != "type" and not (key in checks and checks[key](value)):
                raise InputError(f"{_PROBLEM}: {quote_text(key, longest=40)} of its {name} {kind} can't be read here")
        if kind == "Replace" and len(step.get("content", "")) > len(step.get("pattern", {}).get("String", " ")):
            raise InputError(f"{_PROBLEM}: its {name} Replace makes the text longer")
    growing = Counter(step["type"] for step in steps if step["type"] in _GROWING)
    if max(growing.values(), default=0) > 1:
        raise InputError(f"{_PROBLEM}: a {name} that makes the text longer is there twice")


def _visible_if_bytes(piece: str) -> str:
    """A byte-level piece as the text it stands for; a special token, which is none, as it is."""
    return visible_bytes(piece) if all(map(BYTE_OF_CHARACTER.__contains__, piece)) else visible(piece)
