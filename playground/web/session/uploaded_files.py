"""The file that a visitor opened, kept in that session alone and freed with it: weights, and how text becomes ids."""

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
from playground.web.session.result_cache import cache_in_session, session_results
from playground.web.session.services import services
from playground.weights import build_encoder, encoder_half, first_not_finite, read_tensors, recognise_tensors
from playground.weights.files import check_size
from playground.weights.huggingface import read_config
from playground.weights.recognise import RecognisedWeights

UPLOAD = "_uploaded_weights"
"""Session key of the `UploadedWeights`."""

_PREFIX = "own-"
"""Prefix of the keys of visitors' own tokenizers."""


@dataclass(eq=False)
class UploadedWeights:
    """The weights of a visitor's own file, and what reads text for them."""

    file: str
    sha256: str
    """Of its bytes; the key of the weights in caches."""
    tensors: Mapping[str, Tensor]
    """By the file's own names."""
    recognised: RecognisedWeights
    not_finite: str | None
    """The first tensor that holds NaN or an infinite number."""
    tokenizer: Tokenizer | None = None
    """From its tokenizer.json, a vocabulary, or for ids that are typed; None: the sidebar's reads the text."""
    tokenizer_file: str = ""
    tokenizer_key: str = ""
    """The key of its tokens in caches; empty without one."""

    @property
    def n_bytes(self) -> int:
        """Memory of the tensors, and again of the encoder that is built from them."""
        return 2 * sum(tensor.nbytes for tensor in self.tensors.values())

    @property
    def token_rows(self) -> int:
        """Rows of the token table; 0 if there is none."""
        rows: int = self.recognised.settings["vocab_size"]
        return rows

    def set_tokenizer(self, file: str, tokenizer: Tokenizer, content: bytes) -> None:
        """Read text with a tokenizer, whose content names it in caches."""
        key = f"{_PREFIX}{tokenizer.name}-{hashlib.sha256(content).hexdigest()}"
        self.tokenizer, self.tokenizer_file, self.tokenizer_key = tokenizer, file, key

    def read_with_sidebar(self) -> None:
        """Leave the text to the sidebar's tokenizer."""
        self.tokenizer, self.tokenizer_file, self.tokenizer_key = None, "", ""

    def read_typed_ids(self) -> None:
        """Take ids that are typed as text."""
        self.set_tokenizer("", IdTokenizer(self.token_rows), str(self.token_rows).encode())

    def read_with_vocabulary(self, file: str, data: bytes) -> None:
        """Read text with a vocabulary; raises as `read_vocabulary`."""
        tokenizer = VocabularyTokenizer(read_vocabulary(data, self.token_rows))
        self.set_tokenizer(file, tokenizer, json.dumps(list(tokenizer.ids.items())).encode())


def current_upload() -> UploadedWeights | None:
    """Return the file that this session has open."""
    upload: UploadedWeights | None = st.session_state.get(UPLOAD)
    return upload


def close_upload() -> None:
    """Forget the file, and what was computed with it."""
    st.session_state.pop(UPLOAD, None)
    session_results().clear()


@cache_in_session
def uploaded_encoder(sha256: str, config: ModelConfig, seed: int) -> Encoder:
    """Return the encoder of the upload; raises UnavailableError if this session has no such file open."""
    upload = current_upload()
    if upload is None or upload.sha256 != sha256:
        raise UnavailableError("These weights are not open in your session; open their file in the sidebar.")
    built = build_encoder(upload.tensors, upload.recognised, config, seed)
    return built.requires_grad_(False).to(services().device)


def is_own_tokenizer(key: str) -> bool:
    """Return whether a text's tokenizer is an upload's own."""
    return key.startswith(_PREFIX)


def find_tokenizer(key: str) -> Tokenizer:
    """Return the upload's own tokenizer with this key; raises UnavailableError if it is another session's."""
    upload = current_upload()
    if upload is None or upload.tokenizer is None or upload.tokenizer_key != key:
        raise UnavailableError("This vocabulary is not in your session; open its file in the sidebar.")
    return upload.tokenizer


def read_upload(
    file: str, data: Sequence[bytes], config_json: bytes | None = None, tokenizer_json: bytes | None = None
) -> UploadedWeights:
    """Read safetensors files, and what Hugging Face saves with them; build the encoder once, to see whether all fits.

    Raises:
        InputError, WeightsError, PretrainedError, TooLargeError: the file or its model can't be used here.
    """
    check_size(sum(map(len, data)))
    tensors = encoder_half({name: tensor for part in data for name, tensor in read_tensors(part).items()})
    recognised = recognise_tensors(tensors) if config_json is None else _read_config(config_json)
    config = recognised.config()
    check_budget(config, services().settings.max_parameters)
    digest = hashlib.sha256(b"".join([*data, config_json or b""])).hexdigest()
    upload = UploadedWeights(file, digest, tensors, recognised, first_not_finite(tensors))
    if tokenizer_json is not None:
        tokenizer = published_tokenizer(tokenizer_json)
        if tokenizer.vocab_size > config.vocab_size:
            n, rows = f"{tokenizer.vocab_size:,}", f"{config.vocab_size:,}"
            raise InputError(f"The tokenizer.json has {n} tokens, and the token table {rows} rows.")
        upload.set_tokenizer("tokenizer.json", tokenizer, tokenizer_json)
    services().memory.reserve(upload)
    build_encoder(tensors, recognised, config)
    return upload


def _read_config(data: bytes) -> RecognisedWeights:
    """Read a config.json, which leaves nothing open."""
    try:
        given = read_json(data)
    except ValueError as error:
        raise InputError(f"The config.json can't be read as JSON: {error}.") from error
    config, scheme = read_config(given)
    return RecognisedWeights(scheme, vars(config), {})
