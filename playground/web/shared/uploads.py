"""File uploads: an uploader that keeps nothing, and one sentence if a file can't be used.

Uploaders take files of any name, and their readers say what is wrong: Streamlit's own check of names would end the run
with a traceback.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile

from playground.charts.names import escape_markdown
from playground.errors import BusyError, PlaygroundError, explain
from playground.text.wording import upper_first

logger = logging.getLogger(__name__)


def uploader_key(name: str) -> str:
    """Return the key of an uploader: a new one after each file, since an uploader keeps its file."""
    return f"{name}_{st.session_state.get(f'_{name}_uploads', 0)}"


def take_file(name: str) -> UploadedFile | None:
    """Return the uploaded file; None after a click on an uploader without a file."""
    return next(iter(take_files(name)), None)


def take_files(name: str) -> list[UploadedFile]:
    """Return the uploaded files of an uploader that takes one or several; the server keeps nothing more of them."""
    uploaded: UploadedFile | list[UploadedFile] | None = st.session_state.get(uploader_key(name))
    files = uploaded if isinstance(uploaded, list) else [uploaded] if uploaded is not None else []
    if files:
        st.session_state[f"_{name}_uploads"] = st.session_state.get(f"_{name}_uploads", 0) + 1
    context = get_script_run_ctx()
    if context is not None and isinstance(context.uploaded_file_mgr, MemoryUploadedFileManager):
        for file in files:
            context.uploaded_file_mgr.remove_file(context.session_id, file.file_id)
    return files


@contextmanager
def explain_failure(problem: str, file: str) -> Iterator[None]:
    """Context in which `file` is opened; if that fails, the session key `problem` gets one sentence on why."""
    st.session_state.pop(problem, None)
    try:
        yield
    except BusyError:
        st.session_state[problem] = f"Many people are computing right now; open {file} again in a few seconds."
    except Exception as error:
        if not isinstance(error, PlaygroundError):
            logger.exception("A visitor's file could not be read")
        st.session_state[problem] = f"{upper_first(file)} can't be used. {escape_markdown(explain(error))}"
