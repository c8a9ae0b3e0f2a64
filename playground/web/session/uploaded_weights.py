"""The weights file that a visitor opened: kept in that session alone, and freed with it."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st
from torch import Tensor

from playground.config import ModelConfig
from playground.errors import UnavailableError
from playground.model import Encoder
from playground.runs.budget import check_budget
from playground.runs.device import choose_device
from playground.web.server.settings import settings
from playground.web.session import memory_budget
from playground.web.session.weights_cache import cache_in_session
from playground.weights import build_encoder, encoder_half, first_not_finite, read_tensors, recognise_tensors
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
    return built.requires_grad_(False).to(choose_device(settings().device))


def read_upload(file: str, data: bytes) -> UploadedWeights:
    """Read a file's bytes; the encoder is built once, so that whatever does not fit is found now.

    Raises:
        InputError, WeightsError, TooLargeError: the file or its model can't be used here, in one sentence.
    """
    tensors = encoder_half(read_tensors(data))
    recognised = recognise_tensors(tensors)
    config = recognised.config()
    check_budget(config, settings().max_parameters)
    upload = UploadedWeights(file, hashlib.sha256(data).hexdigest(), tensors, recognised, first_not_finite(tensors))
    memory_budget.reserve(upload)
    build_encoder(tensors, recognised, config)
    return upload
