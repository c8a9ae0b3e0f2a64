"""The files that a visitor opened, kept in that session alone and freed with it: weights, and a vocabulary for them.

The vocabulary, or ids that are typed as numbers, stand in the place of the sidebar's tokenizer; no link carries them.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import streamlit as st
from torch import Tensor

from playground.config import SETTINGS, ModelConfig
from playground.errors import InputError, UnavailableError
from playground.model import Encoder
from playground.runs.budget import check_budget
from playground.text import IdTokenizer, Tokenizer, VocabularyTokenizer, published_tokenizer, read_vocabulary
from playground.text.foreign_json import read_json
from playground.web.session.services import services
from playground.web.session.weights_cache import cache_in_session
from playground.weights import build_encoder, encoder_half, first_not_finite, read_tensors, recognise_tensors
from playground.weights.files import check_size
from playground.weights.huggingface import read_config
from playground.weights.recognise import RecognisedWeights

UPLOAD = "_uploaded_weights"
"""Session key of the `UploadedWeights`."""


@dataclass(frozen=True, eq=False)
class UploadedWeights:
    """The weights of a visitor's own file."""

    file: str
    """Its name."""
    sha256: str
    """Of its bytes; what caches know the weights by."""
    tensors: Mapping[str, Tensor]
    """By the file's own names."""
    recognised: RecognisedWeights
    not_finite: str | None
    """The first tensor that holds NaN or an infinite number."""
    tokenizer: Tokenizer | None = None
    """Its own, where a tokenizer.json lay beside it."""

    @property
    def n_bytes(self) -> int:
        """Memory of the tensors, and again of the encoder that is built from them."""
        return 2 * sum(tensor.nbytes for tensor in self.tensors.values())


def current_upload() -> UploadedWeights | None:
    """The file that this session has open."""
    upload: UploadedWeights | None = st.session_state.get(UPLOAD)
    return upload


@cache_in_session(max_entries=1)
def uploaded_encoder(sha256: str, config: ModelConfig, seed: int) -> Encoder:
    """The encoder of the upload; raises UnavailableError if this session has no such file open."""
    upload = current_upload()
    if upload is None or upload.sha256 != sha256:
        raise UnavailableError("These weights are not open in your session; open their file in the sidebar.")
    built = build_encoder(upload.tensors, upload.recognised, config, seed)
    return built.requires_grad_(False).to(services().device)


def read_upload(
    file: str, data: Sequence[bytes], config_json: bytes | None = None, tokenizer_json: bytes | None = None
) -> UploadedWeights:
    """Read the bytes of one file or several; the encoder is built once, so that whatever does not fit is found now.

    Beside the tensors may lie what Hugging Face saves with them: the config says what names and shapes leave open, and
    the tokenizer how text becomes ids.

    Raises:
        InputError, WeightsError, PretrainedError, TooLargeError: the file or its model can't be used here, in one
            sentence.
    """
    check_size(sum(map(len, data)))
    tensors = encoder_half({name: tensor for part in data for name, tensor in read_tensors(part).items()})
    recognised = recognise_tensors(tensors) if config_json is None else _read_config(config_json)
    config = recognised.config()
    check_budget(config, services().settings.max_parameters)
    tokenizer = None if tokenizer_json is None else published_tokenizer(tokenizer_json)
    if tokenizer is not None and tokenizer.vocab_size > config.vocab_size:
        n, rows = f"{tokenizer.vocab_size:,}", f"{config.vocab_size:,}"
        raise InputError(f"The tokenizer.json has {n} tokens, and the token table {rows} rows: it is another model's.")
    digest = hashlib.sha256(b"".join([*data, config_json or b"", tokenizer_json or b""])).hexdigest()
    upload = UploadedWeights(file, digest, tensors, recognised, first_not_finite(tensors), tokenizer)
    services().memory.reserve(upload)
    build_encoder(tensors, recognised, config)
    return upload


MAX_CONFIG_BYTES = 1_000_000
"""Of a config.json."""


def _read_config(data: bytes) -> RecognisedWeights:
    """What a config.json says: nothing is left open."""
    if len(data) > MAX_CONFIG_BYTES:
        raise InputError(f"The config.json has more than {MAX_CONFIG_BYTES // 1_000_000} MB.")
    try:
        given = read_json(data)
    except ValueError as error:
        raise InputError(f"The config.json can't be read as JSON: {error}.") from error
    config, scheme = read_config(given)
    for field in ("n_layers", "n_heads"):  # a file can't be so small that it has few parameters and many of these
        most = int(SETTINGS[field].stops[-1])
        if vars(config)[field] > most:
            raise InputError(
                f"The config.json asks for {field}={vars(config)[field]:,}; these pages show at most {most}."
            )
    return RecognisedWeights(scheme, vars(config), {})


Reading = Literal["tokenizer", "vocabulary", "ids"]

READING = "_uploaded_reading"
"""Session key of the `Reading`."""

VOCABULARY = "_uploaded_vocabulary"
"""Session key of the `UploadedVocabulary`."""

_IDS, _WORDS, _PUBLISHED = "ids-", "vocabulary-", "published-"
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
    upload = current_upload()
    if upload is not None and upload.tokenizer is not None:
        return f"{_PUBLISHED}{upload.sha256}"
    n_rows, reading, vocabulary = token_rows(), current_reading(), current_vocabulary()
    if n_rows and reading == "ids":
        return f"{_IDS}{n_rows}"
    return vocabulary.key if n_rows and reading == "vocabulary" and vocabulary else ""


def is_own_tokenizer(key: str) -> bool:
    """Whether a text's tokenizer is the upload's own."""
    return key.startswith((_IDS, _WORDS, _PUBLISHED))


def find_tokenizer(key: str) -> Tokenizer:
    """The upload's own tokenizer with this key; UnavailableError if it is another session's vocabulary."""
    if key.startswith(_IDS):
        return IdTokenizer(int(key.removeprefix(_IDS)))
    upload = current_upload()
    if upload is not None and upload.tokenizer is not None and key == f"{_PUBLISHED}{upload.sha256}":
        return upload.tokenizer
    vocabulary = current_vocabulary()
    if vocabulary is None or vocabulary.key != key:
        raise UnavailableError("This vocabulary is not in your session; open its file in the sidebar.")
    return vocabulary.tokenizer


def keep_vocabulary(file: str, data: bytes) -> None:
    """Read a vocabulary for the upload, and keep it in place of the one before; raises as `read_vocabulary`."""
    tokenizer = VocabularyTokenizer(read_vocabulary(data, token_rows()))
    digest = hashlib.sha256(json.dumps(list(tokenizer.ids.items())).encode()).hexdigest()
    vocabulary = UploadedVocabulary(file, f"{_WORDS}{digest}", tokenizer)
    services().memory.reserve(vocabulary, replacing=current_vocabulary())
    st.session_state[VOCABULARY] = vocabulary


def forget_tokens() -> None:
    """Forget the vocabulary, and how the upload's text was read."""
    st.session_state.pop(READING, None)
    st.session_state.pop(VOCABULARY, None)
