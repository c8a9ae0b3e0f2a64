"""How text becomes ids of the upload, in its panel: the sidebar's tokenizer, an own vocabulary, or typed ids."""

import streamlit as st

from playground.text import VocabularyTokenizer
from playground.text.vocabulary_file import MAX_VOCABULARY_BYTES
from playground.text.wording import quote_text
from playground.web.choices.setup import Setup
from playground.web.choices.shortcuts import replace_text
from playground.web.session.uploaded_vocabulary import (
    READING,
    Reading,
    UploadedVocabulary,
    current_reading,
    current_vocabulary,
    forget_tokens,
    keep_vocabulary,
    token_rows,
)
from playground.web.shared import uploads
from playground.web.shared.markdown import quote_token

PROBLEM = "_own_vocabulary_problem"
"""Session key of the sentence that says why the last vocabulary can't be used."""

UPLOADER = "own_vocabulary"
"""Name of the uploader."""

CHOICE, EXAMPLE = "own_reading", "own_example"
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


def draw(setup: Setup) -> None:
    """Draw the choice of a reading, and what belongs to the chosen one; nothing where the file has no token table."""
    if not token_rows():
        return
    if CHOICE not in st.session_state:  # Streamlit forgets it while the panel is not drawn
        st.session_state[CHOICE] = current_reading()
    st.selectbox(
        "Your file does not say which word has which id. Your text is read with",
        list(_READINGS),
        key=CHOICE,
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


def forget() -> None:
    """Forget the vocabulary, its problem, and how text was read."""
    forget_tokens()
    st.session_state.pop(PROBLEM, None)
    if CHOICE in st.session_state:
        st.session_state[CHOICE] = current_reading()


def _draw_vocabulary(setup: Setup) -> None:
    """Draw the uploader of a vocabulary, what was wrong with the last one, and what the open one makes of the text."""
    st.file_uploader(
        "Its vocabulary: one word a line, or JSON",
        key=uploads.uploader_key(UPLOADER),
        on_change=_open_vocabulary,
        max_upload_size=MAX_VOCABULARY_BYTES // 2**20,
        help="The first line is the word with id 0. JSON gives each word its id. At most 2 MB, kept in your session.",
    )
    if PROBLEM in st.session_state:
        st.error(st.session_state[PROBLEM])
    vocabulary = current_vocabulary()
    if vocabulary is None:
        st.caption("Until a vocabulary is open, the sidebar's tokenizer reads the text. This cell saves a dictionary:")
        st.code(_HOW_TO_SAVE, language="python", wrap_lines=True)
        return
    st.caption(" ".join(_describe(vocabulary, setup)))
    _draw_example(_example(vocabulary.tokenizer))


def _draw_example(example: str) -> None:
    label, icon = "Use an example", ":material/edit_note:"
    st.button(
        label, key=EXAMPLE, icon=icon, on_click=_use_example, args=(example,), width="stretch", disabled=not example
    )


def _describe(vocabulary: UploadedVocabulary, setup: Setup) -> list[str]:
    """Sentences on the vocabulary, and on the words of the shown sentence that it lacks."""
    tokenizer = vocabulary.tokenizer
    cut = "Text is cut into characters." if tokenizer.of_characters else "Text is cut at blanks and punctuation."
    remarks = [f"**{quote_text(vocabulary.file)}**: {len(tokenizer.ids):,} words for {token_rows():,} rows. {cut}"]
    if tokenizer.unknown is None:
        remarks.append("It has no token for unknown words, so every word of your text must be in it.")
    elif setup.text.sentences and setup.own_tokenizer:
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
    st.session_state[READING] = st.session_state[CHOICE]


def _open_vocabulary() -> None:
    file = uploads.take_file(UPLOADER)
    if file is not None:
        with uploads.explain_failure(PROBLEM, quote_text(file.name)):
            keep_vocabulary(file.name, file.getvalue())


def _use_example(example: str) -> None:
    replace_text(example)
