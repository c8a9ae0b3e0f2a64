"""The files that a visitor opened, kept in that session alone and freed with it: weights, and how text becomes ids.

A tokenizer of the visitor's own replaces the sidebar's; no link carries it.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st
from torch import Tensor

from playground.config import ModelConfig
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

TOKENIZER = "_own_tokenizer"
"""Session key of the `OwnTokenizer`."""

_PREFIX = "own-"
"""How the keys of visitors' own tokenizers begin."""

_BYTES_PER_WORD = 300


@dataclass(frozen=True, eq=False)
class UploadedWeights:
    """The weights of a visitor's own file."""

    file: str
    sha256: str
    """Of its bytes; the key of the weights in caches."""
    tensors: Mapping[str, Tensor]
    """By the file's own names."""
    recognised: RecognisedWeights
    not_finite: str | None
    """The first tensor that holds NaN or an infinite number."""
    has_tokenizer: bool = False
    """Whether a tokenizer.json came with it."""

    @property
    def n_bytes(self) -> int:
        """Memory of the tensors, and again of the encoder that is built from them."""
        return 2 * sum(tensor.nbytes for tensor in self.tensors.values())


@dataclass(frozen=True, eq=False)
class OwnTokenizer:
    """How the text of an upload becomes ids: by its tokenizer.json, a vocabulary, or ids that are typed."""

    file: str
    key: str
    """The key of its tokens in caches: it follows from the tokenizer alone."""
    tokenizer: Tokenizer

    @property
    def n_bytes(self) -> int:
        """Memory of the words and ids."""
        return 0 if isinstance(self.tokenizer, IdTokenizer) else _BYTES_PER_WORD * self.tokenizer.vocab_size


def current_upload() -> UploadedWeights | None:
    """Return the file that this session has open."""
    upload: UploadedWeights | None = st.session_state.get(UPLOAD)
    return upload


def current_tokenizer() -> OwnTokenizer | None:
    """Return the tokenizer that this session has for its upload."""
    own: OwnTokenizer | None = st.session_state.get(TOKENIZER)
    return own if current_upload() else None


@cache_in_session(max_entries=1)
def uploaded_encoder(sha256: str, config: ModelConfig, seed: int) -> Encoder:
    """Return the encoder of the upload; raises UnavailableError if this session has no such file open."""
    upload = current_upload()
    if upload is None or upload.sha256 != sha256:
        raise UnavailableError("These weights are not open in your session; open their file in the sidebar.")
    built = build_encoder(upload.tensors, upload.recognised, config, seed)
    return built.requires_grad_(False).to(services().device)


def read_upload(
    file: str, data: Sequence[bytes], config_json: bytes | None = None, tokenizer_json: bytes | None = None
) -> tuple[UploadedWeights, OwnTokenizer | None]:
    """Read the bytes of one file or several, and build the encoder once, so that anything that does not fit shows now.

    Args:
        file: its name.
        data: the safetensors files.
        config_json: what Hugging Face saves with them, which says what names and shapes leave open.
        tokenizer_json: how text becomes ids.

    Raises:
        InputError, WeightsError, PretrainedError, TooLargeError: the file or its model can't be used here.
    """
    check_size(sum(map(len, data)))
    tensors = encoder_half({name: tensor for part in data for name, tensor in read_tensors(part).items()})
    recognised = recognise_tensors(tensors) if config_json is None else _read_config(config_json)
    config = recognised.config()
    check_budget(config, services().settings.max_parameters)
    own = None
    if tokenizer_json is not None:
        own = _own("tokenizer.json", published_tokenizer(tokenizer_json), tokenizer_json)
        if own.tokenizer.vocab_size > config.vocab_size:
            n, rows = f"{own.tokenizer.vocab_size:,}", f"{config.vocab_size:,}"
            raise InputError(f"The tokenizer.json has {n} tokens, and the token table {rows} rows.")
    digest = hashlib.sha256(b"".join([*data, config_json or b""])).hexdigest()
    upload = UploadedWeights(file, digest, tensors, recognised, first_not_finite(tensors), own is not None)
    services().memory.reserve(upload)
    build_encoder(tensors, recognised, config)
    return upload, own


def _read_config(data: bytes) -> RecognisedWeights:
    """Read a config.json, which leaves nothing open."""
    try:
        given = read_json(data)
    except ValueError as error:
        raise InputError(f"The config.json can't be read as JSON: {error}.") from error
    config, scheme = read_config(given)
    return RecognisedWeights(scheme, vars(config), {})


def _own(file: str, tokenizer: Tokenizer, content: bytes) -> OwnTokenizer:
    return OwnTokenizer(file, f"{_PREFIX}{tokenizer.name}-{hashlib.sha256(content).hexdigest()}", tokenizer)


def token_rows() -> int:
    """Return the rows of the upload's token table; 0 if there is none."""
    upload = current_upload()
    return upload.recognised.settings["vocab_size"] if upload else 0


def own_tokenizer_key() -> str:
    """Return the key of the upload's own tokenizer; empty if the sidebar's reads the text."""
    own = current_tokenizer()
    return own.key if own else ""


def is_own_tokenizer(key: str) -> bool:
    """Return whether a text's tokenizer is an upload's own."""
    return key.startswith(_PREFIX)


def find_tokenizer(key: str) -> Tokenizer:
    """Return the upload's own tokenizer with this key; raises UnavailableError if it is another session's."""
    own = current_tokenizer()
    if own is None or own.key != key:
        raise UnavailableError("This vocabulary is not in your session; open its file in the sidebar.")
    return own.tokenizer


def read_typed_ids() -> None:
    """Take ids that are typed as the upload's text."""
    n = token_rows()
    st.session_state[TOKENIZER] = _own("", IdTokenizer(n), str(n).encode())


def keep_vocabulary(file: str, data: bytes) -> None:
    """Read a vocabulary for the upload, and keep it in place of the one before; raises as `read_vocabulary`."""
    tokenizer = VocabularyTokenizer(read_vocabulary(data, token_rows()))
    own = _own(file, tokenizer, json.dumps(list(tokenizer.ids.items())).encode())
    services().memory.reserve(own, replacing=current_tokenizer())
    st.session_state[TOKENIZER] = own
