"""A visitor's own weights: opened from a file, kept in that visitor's session alone, and freed with it."""

import hashlib
import threading
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import streamlit as st
from torch import Tensor

from playground.engine import check_budget
from playground.interop import (
    HOW_TO_SAVE,
    WeightsError,
    build_encoder,
    first_not_finite,
    quoted,
    read_file,
    read_tensors,
    recognise,
)
from playground.interop.recognise import Recognised
from playground.web import params
from playground.web.settings import settings

OPENED = "_own_weights"
"""Session key of the `OwnWeights`."""

PROBLEM = "_own_weights_problem"
"""Session key of the sentence that says why the last file was not opened."""

UPLOAD, CHOICE = "own_file", "own_file_on_server"
"""Keys of the two widgets; a link can't carry a file, so they are no parameters."""

_SCHEMES = {
    "playground": "the playground's own names",
    "playground-fused": "the playground's own names",
    "torch": "torch.nn.TransformerEncoder's names",
    "bert": "BERT's names",
}


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
        """Memory that the tensors take."""
        return sum(tensor.nbytes for tensor in self.tensors.values())


_HELD: weakref.WeakSet[OwnWeights] = weakref.WeakSet()
_HELD_LOCK = threading.Lock()


def held() -> list[OwnWeights]:
    """Every session's open file: together they are bounded."""
    with _HELD_LOCK:
        return list(_HELD)


def opened() -> OwnWeights | None:
    """The file that this session has open."""
    own: OwnWeights | None = st.session_state.get(OPENED)
    return own


def close() -> None:
    """Let go of the file and of what was said about it."""
    st.session_state.pop(OPENED, None)
    st.session_state.pop(PROBLEM, None)


def read(file: str, data: bytes) -> OwnWeights:
    """Read a file's bytes; the encoder is built once, so that whatever does not fit is found now.

    Raises:
        ValueError: the file or its model can't be used here, in one sentence.
    """
    tensors = read_tensors(data)
    recognised = recognise({name: tuple(tensor.shape) for name, tensor in tensors.items()})
    config = recognised.config()
    check_budget(config, settings().max_parameters)
    own = OwnWeights(file, hashlib.sha256(data).hexdigest(), tensors, recognised, first_not_finite(tensors))
    if own.n_bytes + sum(other.n_bytes for other in held()) > settings().max_own_weights:
        raise WeightsError(
            "This server holds as many visitors' weights as it can right now; try again in some minutes."
        )
    build_encoder(tensors, recognised, config)
    with _HELD_LOCK:
        _HELD.add(own)
    return own


def draw() -> None:
    """Draw what opens a file, and what is known of the one that is open."""
    st.file_uploader(
        "A state_dict, saved as safetensors",
        type="safetensors",
        key=UPLOAD,
        on_change=_open_upload,
        help="At most 200 MB. It stays in your session, is shown to nobody else, and is gone when you close the page.",
    )
    if files := files_on_server():
        st.selectbox(
            "Or a file on this server",
            files,
            index=None,
            key=CHOICE,
            on_change=_open_from_server,
            placeholder="a safetensors file …",
        )
    if PROBLEM in st.session_state:
        st.error(st.session_state[PROBLEM])
    own = opened()
    if own is None:
        st.caption(":orange-badge[random weights] until a file is open. This line saves one:")
        st.code(HOW_TO_SAVE, language="python", wrap_lines=True)
        return
    st.caption(" ".join([f"**{quoted(own.file)}**: {_summary(own)}.", *_remarks(own)]))


def files_on_server() -> dict[str, Path]:
    """The safetensors files, by name, in the folder that whoever runs the app has named."""
    folder = settings().weights_folder
    if folder is None:
        return {}
    return {path.name: path for path in sorted(folder.glob("*.safetensors")) if path.is_file()}


def _summary(own: OwnWeights) -> str:
    scheme = own.recognised.scheme
    names = _SCHEMES.get(scheme, f"the names of tutorial {scheme[-1].upper()}")
    n = sum(tensor.numel() for tensor in own.tensors.values())
    return f"{names}, {len(own.tensors)} tensors, {n:,} numbers"


def _remarks(own: OwnWeights) -> list[str]:
    """What a reader of the charts has to know."""
    asked = ", ".join(own.recognised.asked)
    remarks = [f"The locked settings follow it; it does not tell **{asked}**: set them as in your code."]
    if own.recognised.scheme == "tutorial-e":
        remarks.append("The encoder half is what these pages run.")
    if not own.recognised.known["vocab_size"]:
        remarks.append("It has no token table: the tokens' vectors are random, drawn from the seed.")
    else:
        remarks.append("Which word has which id is not in it: ids are the tokenizer's below.")
    if own.not_finite:
        remarks.append(f":orange-badge[not finite] {own.not_finite} holds NaN or an infinite number.")
    return remarks


def _open_upload() -> None:
    upload = st.session_state[UPLOAD]
    close()
    if CHOICE in st.session_state:
        st.session_state[CHOICE] = None
    if upload is not None:
        _open(upload.name, upload.getvalue())


def _open_from_server() -> None:
    chosen = st.session_state[CHOICE]
    close()
    if chosen in files_on_server():
        _open(chosen, files_on_server()[chosen])


def _open(file: str, source: bytes | Path) -> None:
    """Keep the file in the session and set what it leaves open to what is likely; or keep the reason why not."""
    try:
        own = read(file, source if isinstance(source, bytes) else read_file(source))
    except ValueError as error:
        st.session_state[PROBLEM] = f"{quoted(file)} can't be used. {error}"
        return
    st.session_state[OPENED] = own
    for key, likely in own.recognised.asked.items():
        st.session_state[key] = likely
    if 0 < own.recognised.known["vocab_size"] < params.TRAINED.vocab_size:
        st.session_state["tokenizer"] = "word"
