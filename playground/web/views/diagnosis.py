"""The live page Diagnosis: a file of somebody's tensors, or an example, compared with the model's."""

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from playground import diagnosis
from playground.charts.chart import Paragraph
from playground.charts.names import escape_markdown
from playground.charts.scene import Scene
from playground.diagnosis import HOW_TO_SAVE, MAX_BYTES
from playground.errors import InputError
from playground.mistakes.edits import Input, run_edited
from playground.mistakes.registry import MISTAKES
from playground.model import Encoder
from playground.runs.forward_pass import read_rows
from playground.text.wording import quote_text
from playground.views.diagnosis import show_diagnosis, show_steps
from playground.web.choices.setup import current_setup
from playground.web.components import request_scroll
from playground.web.session import caches
from playground.web.session.services import services
from playground.web.shared import panels, saving
from playground.web.shared.renderer import render
from playground.words import say

UPLOADER, GIVEN, FOUND = "diagnosis_file", "_diagnosis_given", "_diagnosis_found"
"""Session keys: the file; its name and bytes; what was found last, for which model."""

EXAMPLE = "softmax-over-queries"
"""Every encoder can make it."""

MOST_TOKENS = 64
"""A search runs the model some hundred times."""


def draw_diagnosis() -> None:
    """Draw what was found last, or an invitation, and how to bring tensors."""
    setup = current_setup()
    panels.require_text(setup, say("diagnosis", "no-text"))
    with panels.explain_errors(), caches.turn_on_text(setup.untouched_key) as (encoder, batch):
        if batch.ids.shape[1] > MOST_TOKENS:
            raise InputError(say("diagnosis", "too-long", most=MOST_TOKENS))
        rows = read_rows(encoder, batch, [setup.sentence], seed=setup["seed"], causal=setup["causal"])
        given = Input(rows.x, None if bool(rows.mask.all()) else rows.mask)
        ours = run_edited(encoder, given, [])
    if GIVEN in st.session_state:
        compare(encoder, given, *st.session_state.pop(GIVEN))
    key, name, found = st.session_state.get(FOUND, (None, "", None))
    if key == setup.untouched_key:
        st.caption(say("diagnosis", "checked", name=escape_markdown(name) or say("diagnosis", "example.name")))
        render(show_diagnosis(found, setup.batch.tokens[setup.sentence]), Scene(found))
    else:
        n_mistakes = sum(mistake.applies(encoder.config, given.mask) for mistake in MISTAKES.values())
        render([Paragraph(say("diagnosis", "invitation", mistakes=n_mistakes), "answer")])
        label, icon = say("diagnosis", "example"), ":material/bug_report:"
        st.button(label, "diagnosis_example", on_click=give, args=("", b""), type="primary", icon=icon)
    render(show_steps(setup, given, ours))
    options = {"max_upload_size": MAX_BYTES // 2**20, "help": say("diagnosis", "file.help", how=HOW_TO_SAVE)}
    saving.draw_uploader(say("diagnosis", "file"), UPLOADER, take_file, **options)


def compare(encoder: Encoder, given: Input, name: str, data: bytes) -> None:
    """Keep what is found in a file, or in the example, which has no name."""
    spinner, problem = st.spinner(say("diagnosis", "searching")), saving.problem_key(UPLOADER)
    with saving.explain_failure(problem, name), spinner, services().turns.hold_long_place():
        theirs = diagnosis.read_arrays(data) if name else run_edited(encoder, given, [MISTAKES[EXAMPLE].making])
        found = diagnosis.diagnose(encoder, given.ids, theirs, given.mask)
        st.session_state[FOUND] = current_setup().untouched_key, name, found


def take_file(file: UploadedFile) -> None:
    """Compare the file in the next run."""
    give(quote_text(file.name), file.getvalue())


def give(name: str, data: bytes) -> None:
    """Compare this in the next run; for callbacks."""
    st.session_state[GIVEN] = name, data
    request_scroll("answer")
