"""Download and upload of a trained network."""

import streamlit as st

from playground.training.after.trained_network import TrainedNetwork, load, save
from playground.web.server.settings import settings
from playground.web.session import caches, trained_slot
from playground.web.shared import uploads

UPLOADER = "training_file"
"""Name of the uploader."""

PROBLEM = "_training_problem"
"""Session key of the sentence that says why the last file was not opened."""


def download(trained: TrainedNetwork) -> None:
    """Draw the download button: the weights, with all that is needed to use them again."""
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
    """Draw the uploader of a file that was downloaded here before."""
    with st.expander("Open a network that was trained and downloaded here before", icon=":material/upload:"):
        st.file_uploader(
            "A file from the download button",
            type="safetensors",
            key=uploads.uploader_key(UPLOADER),
            on_change=_open_file,
            help="It stays in your session, is shown to nobody else, and is gone when you leave.",
        )
        if PROBLEM in st.session_state:
            st.error(st.session_state[PROBLEM])


def _open_file() -> None:
    file = uploads.take_file(UPLOADER)
    if file is not None:
        with uploads.explain_failure(PROBLEM, "this file"), caches.TURNS.take():
            trained_slot.session_slot().put(load(file.getvalue(), max_parameters=settings().max_parameters))
