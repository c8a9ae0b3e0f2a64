"""The sidebar's uploader for a link that was too long for an address and was saved as a file."""

import re

import streamlit as st

from playground.errors import InputError
from playground.text.wording import quote_text
from playground.web.choices.open_page import follow_link
from playground.web.shared import saving
from playground.web.shared.navigation import request_page

UPLOADER = "saved_link"
"""Name of the uploader."""

PROBLEM = "_saved_link_problem"
"""Session key of the sentence that says why the last file was not opened."""


def draw() -> None:
    """Draw the uploader, and why the last file can't be used."""
    st.file_uploader(
        "Open a saved link",
        key=saving.uploader_key(UPLOADER),
        on_change=_open_file,
        max_upload_size=1,
        help="A link that is too long to be copied is saved as a file. Everything is set as in the link.",
    )
    if PROBLEM in st.session_state:
        st.error(st.session_state[PROBLEM])


def _open_file() -> None:
    file = saving.take_file(UPLOADER)
    if file is not None:
        with saving.explain_failure(PROBLEM, quote_text(file.name)):
            link = file.getvalue().decode(errors="replace").strip()
            if re.fullmatch(r"https?://\S+", link) is None:  # any text with a question mark could be a short link
                raise InputError("A saved link is one line that begins with https:// or http://.")
            request_page(follow_link(link))
