"""The page Diagnosis: tensors from a file, or of an example, beside those of the sidebar's model."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import streamlit as st
import torch

from playground.charts.chart import Paragraph
from playground.charts.markdown import escape_markdown, quote_token
from playground.charts.scene import Scene
from playground.diagnosis import diagnose
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
from playground.web.shared import panels, saving
from playground.web.shared.renderer import render

_UPLOADER = "diagnosis_file"
_GIVEN, _FOUND, _N_EXAMPLES = "_diagnosis_given", "_diagnosis_found", "_diagnosis_examples"
"""Session keys: what was given just now, what was found last, and how many examples were tried."""

_EXAMPLES = (
    "split-without-transpose", "residual-forgotten", "no-score-scale", "activation-forgotten", "softmax-over-queries",
)  # fmt: skip
"""The mistakes of the examples, one after the other."""

_MOST_TOKENS = 64
"""Of the sentence: a search runs the model some hundred times."""


class _Model(NamedTuple):
    """What tensors are compared with."""

    key: RunKey
    encoder: Encoder
    given: Input
    ours: Mapping[str, torch.Tensor]


@dataclass(frozen=True)
class _Given:
    """What a visitor gave; it is read in a turn."""

    name: str
    read: Callable[[_Model], Mapping[str, Any]]
    """Return the tensors."""
    is_example: bool = False


@dataclass(frozen=True, eq=False)
class _Found:
    """What was found last, and with which model."""

    name: str
    is_example: bool
    key: RunKey
    seen: Diagnosed


def draw_diagnosis() -> None:
    """Draw the page below its heading."""
    setup = current_setup()
    panels.require_text(setup, "Type a sentence into “Your text”: your encoder and this one are to read the same.")
    key = setup.untouched_key
    with panels.explain_errors(), caches.turn_on_text(key) as (encoder, batch):
        if batch.ids.shape[1] > _MOST_TOKENS:
            raise InputError(f"The sentence has more than {_MOST_TOKENS} tokens: shorten it to look for mistakes.")
        rows = read_rows(encoder, batch, [setup.sentence], seed=setup["seed"], causal=setup["causal"])
        given = Input(rows.x, None if bool(rows.mask.all()) else rows.mask)
        model = _Model(key, encoder, given, run_edited(encoder, given, []))
    new: _Given | None = st.session_state.pop(_GIVEN, None)
    if new is not None:
        st.session_state[_FOUND] = _compare(new, model) or st.session_state.get(_FOUND)
    _draw_found(model)
    _draw_ways_in(model)


def _compare(given: _Given, model: _Model) -> _Found | None:
    """Return what was found; None where it cannot be compared, which the page says."""
    setup = current_setup()
    try:
        with st.spinner("Looking for what explains it …"), services().turns.hold_long_place(), services().turns.take():
            found = diagnose(model.encoder, model.given.ids, given.read(model), model.given.mask)
    except PlaygroundError as error:
        services().meters.count_refusal(error)
        st.error(
            f"{escape_markdown(upper_first(given.name))}: {escape_markdown(error)} Step 2 has every name and shape."
        )
        return None
    ours = {name: tensor.numpy() for name, tensor in model.ours.items()}
    seen = diagnosed(found, ours, setup.batch.tokens[setup.sentence])
    seen = replace(seen, found=replace(found, theirs={}))  # a session keeps the first differing tensor alone
    return _Found(given.name, given.is_example, model.key, seen)


def _draw_found(model: _Model) -> None:
    """Draw the report on what was given last; before, what the page does."""
    found: _Found | None = st.session_state.get(_FOUND)
    label, kind = "Try another wrong encoder", "secondary"
    if found is None or (found.is_example and found.key != model.key):
        n = sum(mistake.applies(model.encoder.config, model.given.mask) for mistake in MISTAKES.values())
        render([Paragraph(
            "Is your own encoder wrong? Bring the numbers that it computes. This page finds the first wrong one, and "
            f"tries **{n}** known mistakes, alone and in pairs, to explain it.", "answer",
        )])  # fmt: skip
        label, kind = "See it done: try a wrong encoder", "primary"
    else:
        if found.key != model.key:
            st.info("The sidebar's model or sentence has changed since: bring your tensors again.")
        st.caption(f"Checked: {escape_markdown(found.name)}.")
        render(show_diagnosis(found.seen), Scene(found.seen))
    st.button(
        label, key="diagnosis_example", on_click=_take_example, icon=":material/bug_report:", type=kind,  # type: ignore[arg-type]
        help="The sidebar's model, with one mistake that many make.",
    )  # fmt: skip


def _draw_ways_in(model: _Model) -> None:
    st.header("Check your own encoder", anchor=False)
    st.markdown(
        "**1. Build the sidebar's encoder in your own code, with its weights.** The sidebar has the code: **More**, "
        "*Take it with you*."
    )
    setup = current_setup()
    if setup.weights != "random":
        st.button("Take a small random encoder", key="diagnosis_small", icon=":material/casino:", on_click=_take_small)
    st.markdown("**2. Run it on these tokens, and save what it computes.** Some of its tensors are enough.")
    st.markdown(" ".join(map(quote_token, setup.batch.tokens[setup.sentence])))
    with st.expander("The code that saves them, and their names", icon=":material/code:"):
        st.code(write_saving_code(setup.config, model.given.ids, model.given.mask), language="python", wrap_lines=True)
        shapes = {name: tensor.numpy() for name, tensor in model.ours.items()}
        st.dataframe(describe_names(shapes), hide_index=True, height=240)
    st.markdown("**3. Bring them here.** The result is at the top of this page.")
    st.file_uploader(
        "A file of NumPy (.npz) or safetensors", key=saving.uploader_key(_UPLOADER), on_change=_take_file,
        max_upload_size=MAX_BYTES // 2**20, help=f"Saved with {HOW_TO_SAVE}, by the names of step 2.",
    )  # fmt: skip


def _give(given: _Given) -> None:
    st.session_state[_GIVEN] = given
    request_scroll("answer")


def _take_file() -> None:
    file = saving.take_file(_UPLOADER)
    if file is not None:
        data = file.getvalue()
        _give(_Given(quote_text(file.name), lambda _: read_arrays(data)))


def _take_small() -> None:
    """Take the encoder of 2017, with 2 narrow layers."""
    shortcuts.apply_preset("vaswani-base")
    shortcuts.choose_values({"d_model": 16, "n_heads": 4, "n_layers": 2, "d_ff": 32})


def _take_example() -> None:
    number = st.session_state.get(_N_EXAMPLES, 0)
    st.session_state[_N_EXAMPLES] = number + 1
    _give(_Given("an example, the sidebar's model with one mistake", partial(_read_example, number), is_example=True))


def _read_example(number: int, model: _Model) -> Mapping[str, Any]:
    possible = [MISTAKES[key] for key in _EXAMPLES if MISTAKES[key].applies(model.encoder.config, model.given.mask)]
    return run_edited(model.encoder, model.given, [possible[number % len(possible)].making])
