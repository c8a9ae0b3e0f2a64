"""A trained network as a file: taken along, and brought back."""

import streamlit as st

from playground.engine import BusyError
from playground.training.result import Trained, load, save
from playground.web import cache, held_training, own_weights
from playground.web.settings import settings
from playground.web.training_plan import plainly

UPLOADS = "_training_uploads"
"""Session key of how many files were opened: an uploader keeps what it was given, so that each gets a new one."""

PROBLEM = "_training_problem"
"""Session key of the sentence that says why the last file was not opened."""


def download(trained: Trained) -> None:
    """Offer the weights, with all that is needed to use them again."""
    st.download_button(
        "Download (safetensors)",
        lambda: save(trained),
        file_name=f"{trained.recipe.task}-{trained.results.kept_step}-steps.safetensors",
        mime="application/octet-stream",
        key="training_download",
        icon=":material/download:",
        on_click="ignore",
    )


def upload() -> None:
    """Take a file that was downloaded here before."""
    with st.expander("Open a network that was trained and downloaded here before", icon=":material/upload:"):
        st.file_uploader(
            "A file from the download button",
            type="safetensors",
            key=_key(),
            on_change=_open,
            help="It stays in your session, is shown to nobody else, and is gone when you leave.",
        )
        if PROBLEM in st.session_state:
            st.error(st.session_state[PROBLEM])


def _key() -> str:
    return f"training_file_{st.session_state.get(UPLOADS, 0)}"


def _open() -> None:
    file = st.session_state.get(_key())
    if file is None:
        return
    st.session_state[UPLOADS] = st.session_state.get(UPLOADS, 0) + 1
    own_weights.free(file)
    st.session_state.pop(PROBLEM, None)
    try:
        with cache.TURNS.take():
            trained = load(file.getvalue(), max_parameters=settings().max_parameters)
    except BusyError:
        st.session_state[PROBLEM] = "Many people are computing right now; open the file again in a few seconds."
    except ValueError as error:
        st.session_state[PROBLEM] = f"This file can't be used. {plainly(error)}"
    except (MemoryError, RuntimeError):
        st.session_state[PROBLEM] = "This file can't be used. The server is too short of memory to read it."
    else:
        held_training.shelf().put(trained)
