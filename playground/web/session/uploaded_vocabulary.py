"""How text becomes ids of the upload: by the sidebar's tokenizer, the visitor's own vocabulary, or typed as numbers.

It belongs to the open file and is kept in that session alone. No link carries it.
"""

import hashlib
import json
from dataclasses import dataclass
from typing import Literal

import streamlit as st

from playground.errors import UnavailableError
from playground.text import IdTokenizer, Tokenizer, VocabularyTokenizer, read_vocabulary
from playground.web.session import memory_budget
from playground.web.session.uploaded_weights import current_upload

Reading = Literal["tokenizer", "vocabulary", "ids"]

READING = "_uploaded_reading"
"""Session key of the `Reading`."""

VOCABULARY = "_uploaded_vocabulary"
"""Session key of the `UploadedVocabulary`."""

_IDS, _WORDS = "ids-", "vocabulary-"
"""How the keys of a visitor's own tokenizers begin."""

_BYTES_PER_WORD = 300


@dataclass(frozen=True, eq=False)
class UploadedVocabulary:
    """The vocabulary of a visitor's own file."""

    file: str
    """Its name."""
    key: str
    """What caches know its tokens by: it follows from words and ids alone."""
    tokenizer: VocabularyTokenizer

    @property
    def n_bytes(self) -> int:
        """Memory of the words and ids."""
        return _BYTES_PER_WORD * len(self.tokenizer.ids)


def token_rows() -> int:
    """The rows of the upload's token table; 0 without an upload, or where it has no table."""
    upload = current_upload()
    return upload.recognised.settings["vocab_size"] if upload else 0


def current_reading() -> Reading:
    """How the visitor wants text to become ids."""
    reading: Reading = st.session_state.get(READING, "tokenizer")
    return reading


def current_vocabulary() -> UploadedVocabulary | None:
    """The vocabulary that this session has for the upload."""
    vocabulary: UploadedVocabulary | None = st.session_state.get(VOCABULARY)
    return vocabulary


def own_tokenizer_key() -> str:
    """The key of the tokenizer that the upload has of its own; empty where the sidebar's reads the text."""
    n_rows, reading, vocabulary = token_rows(), current_reading(), current_vocabulary()
    if n_rows and reading == "ids":
        return f"{_IDS}{n_rows}"
    return vocabulary.key if n_rows and reading == "vocabulary" and vocabulary else ""


def is_own_tokenizer(key: str) -> bool:
    """Whether a text's tokenizer is the upload's own."""
    return key.startswith((_IDS, _WORDS))


def find_tokenizer(key: str) -> Tokenizer:
    """The upload's own tokenizer with this key; UnavailableError if it is another session's vocabulary."""
    if key.startswith(_IDS):
        return IdTokenizer(int(key.removeprefix(_IDS)))
    vocabulary = current_vocabulary()
    if vocabulary is None or vocabulary.key != key:
        raise UnavailableError("This vocabulary is not in your session; open its file in the sidebar.")
    return vocabulary.tokenizer


def keep_vocabulary(file: str, data: bytes) -> None:
    """Read a vocabulary for the upload, and keep it in place of the one before; raises as `read_vocabulary`."""
    tokenizer = VocabularyTokenizer(read_vocabulary(data, token_rows()))
    digest = hashlib.sha256(json.dumps(list(tokenizer.ids.items())).encode()).hexdigest()
    vocabulary = UploadedVocabulary(file, f"{_WORDS}{digest}", tokenizer)
    memory_budget.reserve(vocabulary, replacing=current_vocabulary())
    st.session_state[VOCABULARY] = vocabulary


def forget_tokens() -> None:
    """Forget the vocabulary, and how the upload's text was read."""
    st.session_state.pop(READING, None)
    st.session_state.pop(VOCABULARY, None)
