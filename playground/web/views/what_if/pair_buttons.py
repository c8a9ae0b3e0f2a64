"""Buttons that add sentences to the text, so that there is a pair to patch between."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from playground.analysis.effects import sentence_pairs
from playground.link.places import Focus
from playground.text import Batch
from playground.web.choices.focus import move_focus
from playground.web.choices.setup import Setup, note_focus_text
from playground.web.choices.shortcuts import replace_text
from playground.web.session import caches
from playground.web.shared.markdown import escape_markdown

_ADDED = "_what_if_added"
"""Session key that is there after a press, until the whole page has followed: the text is drawn outside of the view."""

_FULL = "Your text has no room for further sentences."


def offer_pairs(setup: Setup, batch: Batch, focus: Focus) -> None:
    """A button for a copy of the sentence with the focused word changed, and one for an example of two sentences."""
    if st.session_state.pop(_ADDED, False):
        st.rerun()
    n_sentences = len(setup.text.sentences)
    encode = partial(_encode, setup.text_key)
    corrupted = sentence_pairs.corrupt_word(encode, batch, setup.sentence, focus.query)
    example = sentence_pairs.find_example(encode)
    with st.container(key="whatif_pairs", horizontal=True):
        _offer(
            "Copy this sentence with another word",
            "whatif_corrupt",
            setup,
            [] if corrupted is None else [corrupted.sentence],
            other=setup.sentence,
            query=corrupted.token if corrupted else 0,
            missing="No other word fits at the chosen query; choose the token of a word.",
        )
        _offer(
            "Add an example pair",
            "whatif_example",
            setup,
            example or [],
            other=n_sentences,
            query=sentence_pairs.changed_tokens(encode(example), 0, 1)[0] if example else 0,
            missing="In no example pair do both sentences have as many tokens by this tokenizer.",
        )


def _offer(label: str, key: str, setup: Setup, added: Sequence[str], *, other: int, query: int, missing: str) -> None:
    """A button that adds sentences to the text, and looks at the last of them beside the sentence `other`."""
    n_sentences = len(setup.text.sentences)
    text = sentence_pairs.append_sentences(setup["text"], n_sentences, added) if added else None
    quoted = " and ".join(f"“{escape_markdown(sentence)}”" for sentence in added)
    reason = missing if not added else _FULL
    st.button(
        label,
        key=key,
        icon=":material/playlist_add:",
        disabled=text is None,
        help=reason if text is None else f"Adds {quoted} to your text, and looks at the last sentence.",
        on_click=_look_at_last,
        args=[text, n_sentences + len(added), other + 1, query],
    )


def _encode(key: caches.TextKey, sentences: Sequence[str]) -> Batch:
    """Sentences as the key's tokenizer cuts them: a vocabulary of the text's own words is made of theirs."""
    return caches.tokenizer(replace(key, sentences=tuple(sentences))).encode_batch(list(sentences), key.max_tokens)


def _look_at_last(text: str, sentence: int, other: int, query: int) -> None:
    replace_text(text)
    st.session_state.update({"sentence": sentence, "whatif_other": other, _ADDED: True})
    move_focus(query=query)
    note_focus_text(text)
