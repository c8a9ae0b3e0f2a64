"""Visitors' own weights: each kept in its visitor's session alone, freed with it, and all together bounded."""

import hashlib
import threading
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import streamlit as st
from torch import Tensor

from playground.errors import WeightsError
from playground.runs.budget import check_budget
from playground.web.server.settings import settings
from playground.weights import build_encoder, encoder_half, first_not_finite, read_tensors, recognise
from playground.weights.recognise import Recognised

OPENED = "_own_weights"
"""Session key of the `OwnWeights`."""


@dataclass(frozen=True, eq=False)
class OwnWeights:
    """A file that was opened.

    Attributes:
        file: its name.
        sha256: of its bytes; what caches know the weights by.
        tensors: by the file's own names.
        recognised: what they are.
        not_finite: the first tensor with a number that is none, or infinite.
    """

    file: str
    sha256: str
    tensors: Mapping[str, Tensor]
    recognised: Recognised
    not_finite: str | None

    @property
    def n_bytes(self) -> int:
        """Memory that the tensors take, and again the encoder that is made of them."""
        return 2 * sum(tensor.nbytes for tensor in self.tensors.values())


class Held(Protocol):
    """What a session keeps."""

    @property
    def n_bytes(self) -> int:
        """Memory that it takes."""


@dataclass(frozen=True, eq=False)
class Room:
    """Memory that something takes which is not there yet, or not in one piece.

    Attributes:
        n_bytes: how much.
    """

    n_bytes: int


_HELD: weakref.WeakSet[Held] = weakref.WeakSet()
_HELD_LOCK = threading.Lock()


def held() -> list[Held]:
    """Every session's open file, what it trains, and what it has trained: together they are bounded."""
    with _HELD_LOCK:
        return list(_HELD)


def opened() -> OwnWeights | None:
    """The file that this session has open."""
    own: OwnWeights | None = st.session_state.get(OPENED)
    return own


def read(file: str, data: bytes) -> OwnWeights:
    """Read a file's bytes; the encoder is built once, so that whatever does not fit is found now.

    Raises:
        InputError: the file or its model can't be used here, in one sentence.
    """
    tensors = encoder_half(read_tensors(data))
    recognised = recognise({name: tuple(tensor.shape) for name, tensor in tensors.items()})
    config = recognised.config()
    check_budget(config, settings().max_parameters)
    own = OwnWeights(file, hashlib.sha256(data).hexdigest(), tensors, recognised, first_not_finite(tensors))
    hold(own)
    build_encoder(tensors, recognised, config)
    return own


def hold(one: Held, instead_of: Held | None = None) -> None:
    """Count something among what is held, for as long as anybody has it or until it is released.

    Args:
        one: what it is.
        instead_of: what is released for it.

    Raises:
        WeightsError: it is one too many; nothing is released then.
    """
    with _HELD_LOCK:
        if one.n_bytes + sum(other.n_bytes for other in _HELD if other is not instead_of) > settings().max_own_weights:
            raise WeightsError(
                "This server holds as many visitors' weights as it can right now; try again in some minutes, or with a "
                "smaller model."
            )
        _HELD.add(one)
        if instead_of is not None:
            _HELD.discard(instead_of)


def release(one: Held) -> None:
    """Count it no longer, if it was."""
    with _HELD_LOCK:
        _HELD.discard(one)
