"""The sidebar's panel for an upload: it opens a weights file, describes it, and says how text becomes its ids."""

import re

import streamlit as st

from playground.link.params import TRAINED
from playground.presets import PRESETS
from playground.text.own_tokens import MAX_VOCABULARY_BYTES, IdTokenizer, VocabularyTokenizer, read_vocabulary
from playground.text.wording import quote_text
from playground.web.choices.setup import Setup
from playground.web.session.own_models import UploadedWeights, read_upload, session_models
from playground.web.session.services import services
from playground.web.shared import uploads

PROBLEM, VOCABULARY_PROBLEM = "_own_weights_problem", "_own_vocabulary_problem"
"""Session keys of the sentence that says why the last file was not opened."""

UPLOADER, VOCABULARY_UPLOADER = "own_file", "own_vocabulary"
"""Names of the uploaders."""

CLOSE, READING = "own_close", "own_reading"
"""Keys of the widgets; a link can't carry a file, so they are no parameters."""

_READING = "_own_reading"
"""Session key of the choice: Streamlit forgets the widget while the panel is not drawn."""

_READINGS = {
    "tokenizer": "the tokenizer of the sidebar",
    "vocabulary": "my own vocabulary",
    "ids": "ids that I type as numbers",
}

_COPY = re.compile(r" ?\([0-9]{1,3}\)(?=\.[a-z]{1,12}$)")
"""What browsers add to the name of a file that is there already: config (1).json."""

_HOW_TO_SAVE = """from safetensors.torch import save_model

save_model(model, "model.safetensors")"""
_HOW_TO_SAVE_WORDS = """import json

json.dump(word_to_id, open("vocabulary.json", "w"))"""


def draw(setup: Setup) -> None:
    """Draw the panel."""
    st.file_uploader(
        "A state_dict, saved as safetensors",
        key=uploads.uploader_key(UPLOADER),
        on_change=_open_upload,
        accept_multiple_files=True,
        help="At most 200 MB. It stays in your session, is shown to nobody else, and is gone when you close it or "
        "leave. Of a Hugging Face checkpoint, add config.json and tokenizer.json.",
    )
    if PROBLEM in st.session_state:
        st.error(st.session_state[PROBLEM])
    upload = session_models().upload
    if upload is None:
        st.caption(":orange-badge[random weights] until a file is open. To save one (`pip install safetensors`):")
        st.code(_HOW_TO_SAVE, language="python", wrap_lines=True)
        return
    st.caption(" ".join(_describe(upload, setup)))
    _draw_reading(upload)
    st.button("Close this file", key=CLOSE, icon=":material/close:", on_click=close, width="stretch")


def close() -> None:
    """Forget the upload, everything computed with it, its vocabulary, and their problems."""
    for key in (PROBLEM, VOCABULARY_PROBLEM, _READING, READING):
        st.session_state.pop(key, None)
    session_models().close_upload()


def _describe(upload: UploadedWeights, setup: Setup) -> list[str]:
    """Return sentences on the file, and on what a reader of the charts has to know."""
    scheme, settled = upload.recognised.scheme, upload.recognised.settings
    title = PRESETS[scheme].title if scheme in PRESETS else scheme
    n = sum(tensor.numel() for tensor in upload.tensors.values())
    remarks = [f"**{quote_text(upload.file)}**: names of {title}, {len(upload.tensors)} tensors, {n:,} numbers."]
    # A table of positions settles how long it is, and says how it was computed, which may still be changed.
    known = {"positions"} if "max_len" in settled else set()
    missing = ", ".join(key for key in upload.recognised.open_settings if key not in known)
    if missing:
        remarks.append(f"It does not say **{missing}**: set them as in your code.")
    if scheme == "tutorial-e":
        remarks.append("The encoder half is what these pages run.")
    if not settled["vocab_size"]:
        remarks.append(f"It has no token table: tokens are random vectors, drawn from seed {setup['seed']}.")
    if upload.not_finite:
        remarks.append(f":orange-badge[not finite] {upload.not_finite} holds NaN or an infinite number.")
    return remarks


def _draw_reading(upload: UploadedWeights) -> None:
    """Draw the choice of how text becomes ids; nothing to choose if the file says it, or has no token table."""
    if not isinstance(upload.tokenizer, VocabularyTokenizer | IdTokenizer | None):
        st.caption(f"Text is read with its own tokenizer, which has {upload.tokenizer.vocab_size:,} tokens.")
        return
    if not upload.token_rows:
        return
    st.session_state.setdefault(READING, st.session_state.get(_READING, "tokenizer"))
    reading = st.selectbox(
        "Your file does not say which word has which id. Your text is read with",
        list(_READINGS),
        key=READING,
        format_func=_READINGS.__getitem__,
        on_change=_change_reading,
    )
    if reading == "ids":
        st.caption(f"Write ids from 0 to {upload.token_rows - 1:,} with blanks between them, one sentence a line.")
    elif reading == "vocabulary":
        _draw_vocabulary(upload)
    else:
        st.caption("That tokenizer counts ids in its own way, so they may stand for other words than in your model.")


def _draw_vocabulary(upload: UploadedWeights) -> None:
    st.file_uploader(
        "Its vocabulary: one word a line, or JSON",
        key=uploads.uploader_key(VOCABULARY_UPLOADER),
        on_change=_open_vocabulary,
        max_upload_size=MAX_VOCABULARY_BYTES // 2**20,
        help="The first line is the word with id 0. JSON gives each word its id. At most 2 MB, kept in your session.",
    )
    if VOCABULARY_PROBLEM in st.session_state:
        st.error(st.session_state[VOCABULARY_PROBLEM])
    if not isinstance(upload.tokenizer, VocabularyTokenizer):
        st.caption("Until a vocabulary is open, the sidebar's tokenizer reads the text. To save a dictionary:")
        st.code(_HOW_TO_SAVE_WORDS, language="python", wrap_lines=True)
    else:
        n, rows = len(upload.tokenizer.ids), upload.token_rows
        st.caption(f"**{quote_text(upload.tokenizer_file)}**: {n:,} words for {rows:,} rows.")


def _change_reading() -> None:
    st.session_state[_READING] = st.session_state[READING]
    upload = session_models().upload
    if upload is None:
        return
    upload.read_with(IdTokenizer(upload.token_rows) if st.session_state[READING] == "ids" else None)


def _open_vocabulary() -> None:
    upload = session_models().upload
    file = uploads.take_file(VOCABULARY_UPLOADER)
    if file is not None and upload is not None:
        with uploads.explain_failure(VOCABULARY_PROBLEM, quote_text(file.name)):
            upload.read_with(VocabularyTokenizer(read_vocabulary(file.getvalue(), upload.token_rows)), file.name)


def _open_upload() -> None:
    """Keep the file in place of the one before, and set what it does not say to what is likely.

    If it can't be used, the one before stays open, and the session gets the reason.
    """
    files = {_COPY.sub("", file.name): file.getvalue() for file in uploads.take_files(UPLOADER)}
    weights = {name: data for name, data in files.items() if name.endswith(".safetensors")}
    weights = weights or {name: data for name, data in files.items() if not name.endswith((".json", ".txt", ".md"))}
    if not weights:
        if files:
            st.session_state[PROBLEM] = "Choose a safetensors file; config.json and tokenizer.json may come with it."
        return
    name = next(iter(weights))
    with uploads.explain_failure(PROBLEM, quote_text(name)):
        with services().turns.take():
            config, tokenizer = files.get("config.json"), files.get("tokenizer.json")
            upload = read_upload(name, list(weights.values()), config, tokenizer)
        close()
        session_models().upload = upload
        st.session_state.update(upload.recognised.open_settings)
        if upload.tokenizer is None and 0 < upload.token_rows < TRAINED.vocab_size:
            st.session_state["tokenizer"] = "word"
