"""Which mistake did I make? Tensors of one's own code beside the model's, and what explains where they part."""

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st
from torch import Tensor

from playground import diagnosis
from playground.charts.chart import Paragraph
from playground.charts.markdown import escape_markdown, quote_token
from playground.charts.scene import Scene
from playground.errors import InputError, PlaygroundError
from playground.link.state import RunKey
from playground.mistakes.edits import Input, run_edited
from playground.mistakes.registry import MISTAKES
from playground.mistakes.saved import HOW_TO_SAVE, MAX_BYTES, read_arrays, write_saving_code
from playground.model import Encoder
from playground.runs.forward_pass import read_rows
from playground.text.wording import quote_text, upper_first
from playground.views.diagnosis import Diagnosed, describe_names, diagnosed, show_diagnosis
from playground.web.choices import shortcuts
from playground.web.choices.setup import current_setup
from playground.web.components.without_picture import request_scroll
from playground.web.session import caches
from playground.web.session.services import services
from playground.web.shared import panels, uploads
from playground.web.shared.renderer import render
from playground.words import say

UPLOADER = "diagnosis_file"
GIVEN, FOUND, N_EXAMPLES = "_diagnosis_given", "_diagnosis_found", "_diagnosis_examples"
"""Session keys: what was given just now, what was found last, and how many examples were tried."""

EXAMPLES = (
    "split-without-transpose", "residual-forgotten", "no-score-scale", "activation-forgotten", "softmax-over-queries",
)  # fmt: skip
"""The mistakes of the examples, one after the other."""

MOST_TOKENS = 64
"""Of the sentence: a search runs the model some hundred times."""


def draw_diagnosis() -> None:
    """Draw what was found last, and the ways to bring tensors; a new comparison takes a turn."""
    setup = current_setup()
    panels.require_text(setup, say("diagnosis", "no-text"))
    key = setup.untouched_key
    with panels.explain_errors(), caches.turn_on_text(key) as (encoder, batch):
        if batch.ids.shape[1] > MOST_TOKENS:
            raise InputError(say("diagnosis", "too-long", most=MOST_TOKENS))
        rows = read_rows(encoder, batch, [setup.sentence], seed=setup["seed"], causal=setup["causal"])
        given = Input(rows.x, None if bool(rows.mask.all()) else rows.mask)
        ours = run_edited(encoder, given, [])
    if new := st.session_state.pop(GIVEN, None):
        name, data = new
        compare(name, data, key, encoder, given, ours)
    draw_found(key, encoder, given)
    draw_steps(given, ours)


def compare(
    name: str, data: bytes | int, key: RunKey, encoder: Encoder, given: Input, ours: Mapping[str, Tensor]
) -> None:
    """Keep what is found in a file, or in an example by its number; an error is one sentence."""
    setup = current_setup()
    try:
        spinner = st.spinner(say("diagnosis", "searching"))
        with spinner, services().turns.hold_long_place(), services().turns.take():
            theirs = read_arrays(data) if isinstance(data, bytes) else read_example(data, encoder, given)
            found = diagnosis.diagnose(encoder, given.ids, theirs, given.mask)
    except PlaygroundError as error:
        services().meters.count_refusal(error)
        name = escape_markdown(upper_first(name))
        st.error(say("diagnosis", "refused", name=name, why=escape_markdown(error)))
        return
    arrays = {name: tensor.numpy() for name, tensor in ours.items()}
    seen = diagnosed(found, arrays, setup.batch.tokens[setup.sentence])
    seen = replace(seen, found=replace(found, theirs={}))  # a session keeps the first differing tensor alone
    st.session_state[FOUND] = name, key, seen


def read_example(number: int, encoder: Encoder, given: Input) -> Mapping[str, Tensor]:
    """Return what the model computes with one mistake."""
    possible = [MISTAKES[key] for key in EXAMPLES if MISTAKES[key].applies(encoder.config, given.mask)]
    return run_edited(encoder, given, [possible[number % len(possible)].making])


def draw_found(key: RunKey, encoder: Encoder, given: Input) -> None:
    """Draw the report on what was given last; before, what the page does."""
    found: tuple[str, RunKey, Diagnosed] | None = st.session_state.get(FOUND)
    example = say("diagnosis", "example.name")
    is_first = found is None or (found[0] == example and found[1] != key)
    if found is None or is_first:
        n = sum(mistake.applies(encoder.config, given.mask) for mistake in MISTAKES.values())
        render([Paragraph(say("diagnosis", "invitation", mistakes=n), "answer")])
    else:
        name, of_model, seen = found
        if of_model != key:
            st.info(say("diagnosis", "stale"))
        st.caption(say("diagnosis", "checked", name=escape_markdown(name)))
        render(show_diagnosis(seen), Scene(seen))
    st.button(
        say("diagnosis", "example") if is_first else say("diagnosis", "example.next"),
        key="diagnosis_example",
        on_click=take_example,
        icon=":material/bug_report:",
        type="primary" if is_first else "secondary",
        help=say("diagnosis", "example.help"),
    )


def draw_steps(given: Input, ours: Mapping[str, Tensor]) -> None:
    """Draw how to bring tensors of one's own: the code that saves them, their names, and where a file goes."""
    setup = current_setup()
    st.header(say("diagnosis", "steps"), anchor=False)
    st.markdown(say("diagnosis", "build"))
    if setup.weights != "random":
        st.button(say("diagnosis", "small"), key="diagnosis_small", icon=":material/casino:", on_click=take_small)
    st.markdown(say("diagnosis", "run"))
    st.markdown(" ".join(map(quote_token, setup.batch.tokens[setup.sentence])))
    with st.expander(say("diagnosis", "code"), icon=":material/code:"):
        st.code(write_saving_code(setup.config, given.ids, given.mask), language="python", wrap_lines=True)
        st.dataframe(describe_names({name: each.numpy() for name, each in ours.items()}), hide_index=True, height=240)
    st.markdown(say("diagnosis", "bring"))
    st.file_uploader(
        say("diagnosis", "file"),
        key=uploads.uploader_key(UPLOADER),
        on_change=take_file,
        max_upload_size=MAX_BYTES // 2**20,
        help=say("diagnosis", "file.help", how=HOW_TO_SAVE),
    )


def take_file() -> None:
    """Compare the file in the run that follows."""
    if file := uploads.take_file(UPLOADER):
        st.session_state[GIVEN] = quote_text(file.name), file.getvalue()
        request_scroll("answer")


def take_example() -> None:
    """Compare the next example in the run that follows."""
    number = st.session_state.get(N_EXAMPLES, 0)
    st.session_state.update({N_EXAMPLES: number + 1, GIVEN: (say("diagnosis", "example.name"), number)})
    request_scroll("answer")


def take_small() -> None:
    """Take the encoder of 2017, with 2 narrow layers."""
    shortcuts.apply_preset("vaswani-base")
    shortcuts.choose_values({"d_model": 16, "n_heads": 4, "n_layers": 2, "d_ff": 32})


panels.draw_heading("Which mistake did I make?")
draw_diagnosis()
panels.code_behind("diagnosis", diagnosis.diagnose)
