"""Which mistake did I make? Tensors of one's own code beside the model's, and what explains where they part."""

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile
from torch import Tensor

from playground import diagnosis
from playground.charts.chart import Button, Paragraph
from playground.charts.names import escape_markdown, quote_token
from playground.charts.scene import Scene
from playground.errors import InputError, PlaygroundError
from playground.mistakes.edits import Input, run_edited
from playground.mistakes.registry import MISTAKES
from playground.mistakes.saved import HOW_TO_SAVE, MAX_BYTES, read_arrays, write_saving_code
from playground.model import Encoder
from playground.runs.forward_pass import read_rows
from playground.text.wording import quote_text
from playground.views.diagnosis import describe_names, diagnosed, show_diagnosis
from playground.web.choices.setup import current_setup
from playground.web.choices.shortcuts import preset_values
from playground.web.components import request_scroll
from playground.web.session import caches
from playground.web.session.services import services
from playground.web.shared import panels, saving
from playground.web.shared.renderer import render
from playground.words import say

UPLOADER = "diagnosis_file"
GIVEN, FOUND = "_diagnosis_given", "_diagnosis_found"
"""Session keys: the name and bytes of what was given just now, and what was found last, by which name and model."""

EXAMPLE = "softmax-over-queries"
"""The mistake of the example: every encoder can make it."""

MOST_TOKENS = 64
"""Of the sentence: a search runs the model some hundred times."""


def draw_diagnosis() -> None:
    """Draw what was found last, and the ways to bring tensors; a new comparison takes a turn."""
    setup = current_setup()
    panels.require_text(setup, say("diagnosis", "no-text"))
    with panels.explain_errors(), caches.turn_on_text(setup.untouched_key) as (encoder, batch):
        if batch.ids.shape[1] > MOST_TOKENS:
            raise InputError(say("diagnosis", "too-long", most=MOST_TOKENS))
        rows = read_rows(encoder, batch, [setup.sentence], seed=setup["seed"], causal=setup["causal"])
        given = Input(rows.x, None if bool(rows.mask.all()) else rows.mask)
        ours = run_edited(encoder, given, [])
    if new := st.session_state.pop(GIVEN, None):
        name, data = new
        compare(name, data, encoder, given, ours)
    draw_found(sum(mistake.applies(encoder.config, given.mask) for mistake in MISTAKES.values()))
    draw_steps(given, ours)


def compare(name: str, data: bytes, encoder: Encoder, given: Input, ours: Mapping[str, Tensor]) -> None:
    """Keep what is found in a file, or in the example, which has no bytes; an error is one sentence."""
    setup = current_setup()
    try:
        spinner = st.spinner(say("diagnosis", "searching"))
        with spinner, services().turns.hold_long_place(), services().turns.take():
            theirs = read_arrays(data) if name else run_edited(encoder, given, [MISTAKES[EXAMPLE].making])
            found = diagnosis.diagnose(encoder, given.ids, theirs, given.mask)
    except PlaygroundError as error:
        st.error(say("diagnosis", "refused", name=escape_markdown(name), why=escape_markdown(error)))
        return
    arrays = {name: tensor.numpy() for name, tensor in ours.items()}
    seen = diagnosed(found, arrays, setup.batch.tokens[setup.sentence])
    seen = replace(seen, found=replace(found, theirs={}))  # a session keeps the first differing tensor alone
    st.session_state[FOUND] = name, setup.untouched_key, seen


def draw_found(n_mistakes: int) -> None:
    """Draw the report on what was given last; before, what the page does, and an example."""
    name, key, seen = st.session_state.get(FOUND, ("", None, None))
    is_stale = key != current_setup().untouched_key
    if seen is None or (is_stale and not name):
        render([Paragraph(say("diagnosis", "invitation", mistakes=n_mistakes), "answer")])
        st.button(
            say("diagnosis", "example"),
            key="diagnosis_example",
            on_click=give,
            args=("", b""),
            icon=":material/bug_report:",
            type="primary",
            help=say("diagnosis", "example.help"),
        )
        return
    if is_stale:
        st.info(say("diagnosis", "stale"))
    st.caption(say("diagnosis", "checked", name=escape_markdown(name) or say("diagnosis", "example.name")))
    render(show_diagnosis(seen), Scene(seen))


def draw_steps(given: Input, ours: Mapping[str, Tensor]) -> None:
    """Draw how to bring tensors of one's own: the code that saves them, their names, and where a file goes."""
    setup = current_setup()
    st.header(say("diagnosis", "steps"), anchor=False)
    st.markdown(say("diagnosis", "build"))
    if setup.weights != "random":
        small = {
            "weights": "random",
            **preset_values("vaswani-base"),
            "d_model": 16,
            "n_heads": 4,
            "n_layers": 2,
            "d_ff": 32,
        }
        render([Button("diagnosis_small", say("diagnosis", "small"), small, icon=":material/casino:")])
    st.markdown(say("diagnosis", "run"))
    st.markdown(" ".join(map(quote_token, setup.batch.tokens[setup.sentence])))
    with st.expander(say("diagnosis", "code"), icon=":material/code:"):
        st.code(write_saving_code(setup.config, given.ids, given.mask), language="python", wrap_lines=True)
        st.dataframe(describe_names({name: each.numpy() for name, each in ours.items()}), hide_index=True, height=240)
    st.markdown(say("diagnosis", "bring"))
    options = {"max_upload_size": MAX_BYTES // 2**20, "help": say("diagnosis", "file.help", how=HOW_TO_SAVE)}
    saving.draw_uploader(say("diagnosis", "file"), UPLOADER, take_file, **options)


def take_file(file: UploadedFile) -> None:
    """Compare the file in the run that follows."""
    give(quote_text(file.name), file.getvalue())


def give(name: str, data: bytes) -> None:
    """Compare this in the run that follows; for callbacks."""
    st.session_state[GIVEN] = name, data
    request_scroll("answer")


panels.draw_heading("Which mistake did I make?")
draw_diagnosis()
panels.code_behind("diagnosis", diagnosis.diagnose)
