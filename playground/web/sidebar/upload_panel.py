"""The sidebar's panel for an upload: it opens a weights file, describes the open one, and says how to save one."""

from pathlib import Path

import streamlit as st

from playground.link.params import TRAINED
from playground.presets import PRESETS
from playground.text.wording import quote_text
from playground.web.choices.setup import Setup
from playground.web.server.settings import settings
from playground.web.session import caches
from playground.web.session.uploaded_weights import UPLOAD, UploadedWeights, current_upload, read_upload
from playground.web.session.weights_cache import clear_session_caches
from playground.web.shared import uploads
from playground.web.sidebar import vocabulary_panel
from playground.weights import SAVING_CELLS, read_file

PROBLEM = "_own_weights_problem"
"""Session key of the sentence that says why the last file was not opened."""

UPLOADER = "own_file"
"""Name of the uploader."""

CHOICE, CLOSE, CELL = "own_file_on_server", "own_close", "own_cell"
"""Keys of the widgets; a link can't carry a file, so they are no parameters."""

_SCHEMES = {
    "playground": "the playground's own names",
    "playground-fused": "the playground's own names",
    "torch": "torch.nn.TransformerEncoder's names",
    "bert": "BERT's names",
}


def close() -> None:
    """Forget the upload, everything computed with it, its vocabulary, and its problem."""
    _forget_file()
    st.session_state.pop(PROBLEM, None)
    if CHOICE in st.session_state:
        st.session_state[CHOICE] = None


def draw(setup: Setup) -> None:
    """Draw the panel."""
    st.file_uploader(
        "A state_dict, saved as safetensors",
        key=uploads.uploader_key(UPLOADER),
        on_change=_open_upload,
        help="At most 200 MB. It stays in your session, is shown to nobody else, gone when you close it or leave.",
    )
    if files := files_on_server():
        label, hint = "Or a file on this server", "a safetensors file …"
        st.selectbox(label, files, index=None, key=CHOICE, on_change=_open_from_server, placeholder=hint)
    if PROBLEM in st.session_state:
        st.error(st.session_state[PROBLEM])
    upload = current_upload()
    if upload is None:
        st.caption(":orange-badge[random weights] until a file is open.")
    else:
        st.caption(" ".join(_describe(upload, setup)))
        vocabulary_panel.draw(setup)
        st.button("Close this file", key=CLOSE, icon=":material/close:", on_click=close, width="stretch")
    _show_saving_cell()


def _show_saving_cell() -> None:
    """Draw an expander with the code that saves a file, for each tutorial's own objects."""
    with st.expander("How to save such a file", icon=":material/save:"):
        chosen = st.selectbox("What you have", SAVING_CELLS, key=CELL)
        st.code(SAVING_CELLS[chosen], language="python", wrap_lines=True)
        st.caption(
            "Run this cell in your notebook, with your own variables' names. It needs `pip install safetensors`."
        )


def files_on_server() -> dict[str, Path]:
    """The safetensors files in the server's weights folder, by name."""
    folder = settings().weights_folder
    if folder is None:
        return {}
    return {path.name: path for path in sorted(folder.glob("*.safetensors")) if path.is_file()}


def _describe(upload: UploadedWeights, setup: Setup) -> list[str]:
    """Sentences on the file, and on what a reader of the charts has to know."""
    scheme, settled = upload.recognised.scheme, upload.recognised.settings
    # A table of positions settles how long it is, and tells how it was computed, which may still be changed.
    told = {"positions"} if "max_len" in settled else set()
    not_in_file = ", ".join(key for key in upload.recognised.open_settings if key not in told)
    names = _SCHEMES.get(scheme) or f"the names of {PRESETS[scheme].title}"
    n = sum(tensor.numel() for tensor in upload.tensors.values())
    remarks = [
        f"**{quote_text(upload.file)}**: {names}, {len(upload.tensors)} tensors, {n:,} numbers.",
        f"The locked settings follow it; it does not tell **{not_in_file}**: set them as in your code.",
    ]
    if scheme == "tutorial-e":
        remarks.append("The encoder half is what these pages run.")
    if not settled["vocab_size"]:
        added = "without positions" if setup["positions"] == "none" else f"with {setup['positions']} positions added"
        remarks.append(
            "It has no token table, so your model reads vectors and no words. Here it reads random vectors: one for "
            f"each token, drawn from seed {setup['seed']}, {added}."
        )
    if scheme.startswith("tutorial") and settled.get("positions") == "learned":
        remarks.append("Its position table is no table of sines and cosines: it is used as learned positions.")
    if upload.not_finite:
        remarks.append(f":orange-badge[not finite] {upload.not_finite} holds NaN or an infinite number.")
    return remarks


def _open_upload() -> None:
    file = uploads.take_file(UPLOADER)
    if file is not None:
        _open(file.name, file.getvalue())
        if CHOICE in st.session_state:
            st.session_state[CHOICE] = None


def _open_from_server() -> None:
    chosen = st.session_state[CHOICE]
    if chosen in files_on_server():
        _open(chosen, files_on_server()[chosen])
    elif chosen is None:
        close()


def _open(file: str, source: bytes | Path) -> None:
    """Keep the file in place of the one before, and set what it does not tell to what is likely.

    Where it can't be used, the one before stays open, and the session gets the reason.
    """
    with uploads.explain_failure(PROBLEM, quote_text(file)):
        with caches.TURNS.hold_long_place(), caches.TURNS.take():
            upload = read_upload(file, source if isinstance(source, bytes) else read_file(source))
        _forget_file()
        st.session_state[UPLOAD] = upload
        for key, likely in upload.recognised.open_settings.items():
            st.session_state[key] = likely
        if 0 < upload.recognised.settings["vocab_size"] < TRAINED.vocab_size:
            st.session_state["tokenizer"] = "word"


def _forget_file() -> None:
    st.session_state.pop(UPLOAD, None)
    vocabulary_panel.forget()
    clear_session_caches()
