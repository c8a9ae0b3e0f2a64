"""The sidebar's panel for an upload: it opens a weights file, describes it, and says how text becomes its ids."""

import re
from pathlib import Path

import streamlit as st

from playground.charts.markdown import quote_token
from playground.link.params import TRAINED
from playground.presets import PRESETS
from playground.text import VocabularyTokenizer, wordpiece_of
from playground.text.own_tokens import MAX_VOCABULARY_BYTES
from playground.text.wording import quote_text
from playground.web.choices.setup import Setup
from playground.web.choices.shortcuts import replace_text
from playground.web.session.services import services
from playground.web.session.uploaded_files import (
    READING,
    UPLOAD,
    Reading,
    UploadedVocabulary,
    UploadedWeights,
    current_reading,
    current_upload,
    current_vocabulary,
    forget_tokens,
    keep_vocabulary,
    read_upload,
    token_rows,
)
from playground.web.session.weights_cache import clear_session_caches
from playground.web.shared import uploads
from playground.weights import SAVING_CELLS, read_file
from playground.weights.checkpoint import CONFIG, VOCABULARY, WORD_PIECES
from playground.weights.huggingface import FAMILIES

VOCABULARY_PROBLEM = "_own_vocabulary_problem"
"""Session key of the sentence that says why the last vocabulary can't be used."""

VOCABULARY_UPLOADER = "own_vocabulary"
"""Name of the uploader."""

VOCABULARY_CHOICE, VOCABULARY_EXAMPLE = "own_reading", "own_example"
"""Keys of the widgets; a link can't carry a vocabulary, so they are no parameters."""

_READINGS: dict[Reading, str] = {
    "tokenizer": "the tokenizer of the sidebar",
    "vocabulary": "my own vocabulary",
    "ids": "ids that I type as numbers",
}

_HOW_TO_SAVE = """import json

with open("vocabulary.json", "w", encoding="utf-8") as file:
    json.dump(word_to_id, file)"""

_LISTED = 8
"""Words that an example has, and that a sentence names, at most."""

_LONGEST = 40
"""Characters of a word in an example."""


def draw_vocabulary_panel(setup: Setup) -> None:
    """Draw the choice of a reading, and what belongs to the chosen one; nothing where the file has no token table."""
    upload = current_upload()
    if upload is not None and upload.tokenizer is not None:
        st.caption(f"Text is read with its own tokenizer, which has {upload.tokenizer.vocab_size:,} tokens.")
        return
    if not token_rows():
        return
    if VOCABULARY_CHOICE not in st.session_state:  # Streamlit forgets it while the panel is not drawn
        st.session_state[VOCABULARY_CHOICE] = current_reading()
    st.selectbox(
        "Your file does not say which word has which id. Your text is read with",
        list(_READINGS),
        key=VOCABULARY_CHOICE,
        format_func=_READINGS.__getitem__,
        on_change=_keep_reading,
    )
    if current_reading() == "vocabulary":
        _draw_vocabulary(setup)
    elif current_reading() == "ids":
        st.caption(
            f"Write ids as numbers with blanks between them, one sentence a line. Your table has the ids 0 to "
            f"{token_rows() - 1:,}."
        )
        _draw_example(" ".join(str(token_id) for token_id in range(min(token_rows(), _LISTED))))
    else:
        st.caption("That tokenizer counts ids in its own way, so they may stand for other words than in your model.")


def forget_vocabulary() -> None:
    """Forget the vocabulary, its problem, and how text was read."""
    forget_tokens()
    st.session_state.pop(VOCABULARY_PROBLEM, None)
    if VOCABULARY_CHOICE in st.session_state:
        st.session_state[VOCABULARY_CHOICE] = current_reading()


def _draw_vocabulary(setup: Setup) -> None:
    """Draw the uploader of a vocabulary, what was wrong with the last one, and what the open one makes of the text."""
    st.file_uploader(
        "Its vocabulary: one word a line, or JSON",
        key=uploads.uploader_key(VOCABULARY_UPLOADER),
        on_change=_open_vocabulary,
        max_upload_size=MAX_VOCABULARY_BYTES // 2**20,
        help="The first line is the word with id 0. JSON gives each word its id. At most 2 MB, kept in your session.",
    )
    if VOCABULARY_PROBLEM in st.session_state:
        st.error(st.session_state[VOCABULARY_PROBLEM])
    vocabulary = current_vocabulary()
    if vocabulary is None:
        st.caption("Until a vocabulary is open, the sidebar's tokenizer reads the text. This cell saves a dictionary:")
        st.code(_HOW_TO_SAVE, language="python", wrap_lines=True)
        return
    st.caption(" ".join(_describe_vocabulary(vocabulary, setup)))
    _draw_example(_example(vocabulary.tokenizer))


def _draw_example(example: str) -> None:
    label, icon = "Use an example", ":material/edit_note:"
    st.button(
        label,
        key=VOCABULARY_EXAMPLE,
        icon=icon,
        on_click=replace_text,
        args=(example,),
        width="stretch",
        disabled=not example,
    )


def _describe_vocabulary(vocabulary: UploadedVocabulary, setup: Setup) -> list[str]:
    """Sentences on the vocabulary, and on the words of the shown sentence that it lacks."""
    tokenizer = vocabulary.tokenizer
    cut = "Text is cut into characters." if tokenizer.of_characters else "Text is cut at blanks and punctuation."
    remarks = [f"**{quote_text(vocabulary.file)}**: {len(tokenizer.ids):,} words for {token_rows():,} rows. {cut}"]
    if tokenizer.unknown is None:
        remarks.append("It has no token for unknown words, so every word of your text must be in it.")
    elif setup.text.sentences and setup.state.own_tokenizer:
        batch, row = setup.batch, setup.sentence
        places = zip(batch.offsets[row], batch.unknown[row], strict=True)
        words = [batch.sentences[row][start:end] for (start, end), is_unknown in places if is_unknown]
        different = list(dict.fromkeys(words))
        if different:
            listed = " ".join(map(quote_token, different[:_LISTED])) + " …" * (len(different) > _LISTED)
            remarks.append(
                f":orange-badge[unknown] It lacks {len(words)} of this sentence's {len(batch.tokens[row])} tokens. "
                f"They are read as {quote_token(tokenizer.unknown)}: {listed}"
            )
    return remarks


def _example(tokenizer: VocabularyTokenizer) -> str:
    """The first words that are short and no special tokens, as a text."""
    if tokenizer.of_characters:
        return "".join(word for word in tokenizer.ids if len(word) == 1 and word.isprintable())[:_LISTED].strip()
    words = [word for word in tokenizer.ids if word.isprintable() and word.split() == [word] and word[0] not in "[<"]
    return " ".join([word for word in words if len(word) <= _LONGEST][:_LISTED])


def _keep_reading() -> None:
    st.session_state[READING] = st.session_state[VOCABULARY_CHOICE]


def _open_vocabulary() -> None:
    file = uploads.take_file(VOCABULARY_UPLOADER)
    if file is not None:
        with uploads.explain_failure(VOCABULARY_PROBLEM, quote_text(file.name)):
            keep_vocabulary(file.name, file.getvalue())


PROBLEM = "_own_weights_problem"
"""Session key of the sentence that says why the last file was not opened."""

UPLOADER = "own_file"
"""Name of the uploader."""

CHOICE, CLOSE, CELL = "own_file_on_server", "own_close", "own_cell"
"""Keys of the widgets; a link can't carry a file, so they are no parameters."""

_COPY = re.compile(r" ?\([0-9]{1,3}\)(?=\.[a-z]{1,12}$)")
"""What browsers add to the name of a file that is there already: config (1).json."""

_SHARD = re.compile(r"-[0-9]{5}-of-[0-9]{5}\.safetensors$")
_BESIDE = (".json", ".txt", ".md", ".gitattributes", ".onnx", ".msgpack", ".h5", ".ot", ".model")
"""Ends of the names of what lies beside weights in a checkpoint's folder."""

_SCHEMES = {
    "playground": "the playground's own names",
    "playground-fused": "the playground's own names",
    "torch": "torch.nn.TransformerEncoder's names",
    "torch-tutorial": "the names of PyTorch's own tutorial",
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
        accept_multiple_files=True,
        help="At most 200 MB. It stays in your session, is shown to nobody else, gone when you close it or leave. Of a "
        "Hugging Face checkpoint, choose all files of its folder.",
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
        draw_vocabulary_panel(setup)
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
    folder = services().settings.weights_folder
    if folder is None:
        return {}
    return {path.name: path for path in sorted(folder.glob("*.safetensors")) if path.is_file()}


def _describe(upload: UploadedWeights, setup: Setup) -> list[str]:
    """Sentences on the file, and on what a reader of the charts has to know."""
    scheme, settled = upload.recognised.scheme, upload.recognised.settings
    # A table of positions settles how long it is, and tells how it was computed, which may still be changed.
    told = {"positions"} if "max_len" in settled else set()
    not_in_file = ", ".join(key for key in upload.recognised.open_settings if key not in told)
    families = {family.scheme: f"{family.title}'s names" for family in FAMILIES.values()}
    names = _SCHEMES.get(scheme) or families.get(scheme) or f"the names of {PRESETS[scheme].title}"
    n = sum(tensor.numel() for tensor in upload.tensors.values())
    remarks = [f"**{quote_text(upload.file)}**: {names}, {len(upload.tensors)} tensors, {n:,} numbers."]
    if not_in_file:
        remarks.append(f"The locked settings follow it; it does not tell **{not_in_file}**: set them as in your code.")
    else:
        remarks.append("Its config.json says everything.")
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
    files = uploads.take_files(UPLOADER)
    if not files:
        return
    named = {_COPY.sub("", file.name): file.getvalue() for file in files}
    weights = {name: data for name, data in named.items() if name.endswith(".safetensors")}
    weights = weights or {name: data for name, data in named.items() if not name.endswith(_BESIDE)}
    if not weights or (len(weights) > 1 and not all(_SHARD.search(name) for name in weights)):
        st.session_state[PROBLEM] = (
            f"Choose one safetensors file, or all parts of one; {CONFIG} and {VOCABULARY} may come with it."
        )
        return
    tokenizer = named.get(VOCABULARY)
    with uploads.explain_failure(PROBLEM, WORD_PIECES):
        if tokenizer is None and WORD_PIECES in named:
            tokenizer = wordpiece_of(named[WORD_PIECES])
        _open(next(iter(weights)), list(weights.values()), named.get(CONFIG), tokenizer)
    if CHOICE in st.session_state:
        st.session_state[CHOICE] = None


def _open_from_server() -> None:
    chosen = st.session_state[CHOICE]
    if chosen in files_on_server():
        _open(chosen, files_on_server()[chosen])
    elif chosen is None:
        close()


def _open(file: str, source: list[bytes] | Path, config: bytes | None = None, tokenizer: bytes | None = None) -> None:
    """Keep the file in place of the one before, and set what it does not tell to what is likely.

    Where it can't be used, the one before stays open, and the session gets the reason.
    """
    with uploads.explain_failure(PROBLEM, quote_text(file)):
        with services().turns.hold_long_place(), services().turns.take():
            data = [read_file(source)] if isinstance(source, Path) else source
            upload = read_upload(file, data, config, tokenizer)
        _forget_file()
        st.session_state[UPLOAD] = upload
        for key, likely in upload.recognised.open_settings.items():
            st.session_state[key] = likely
        if upload.tokenizer is None and 0 < upload.recognised.settings["vocab_size"] < TRAINED.vocab_size:
            st.session_state["tokenizer"] = "word"


def _forget_file() -> None:
    st.session_state.pop(UPLOAD, None)
    forget_vocabulary()
    clear_session_caches()
